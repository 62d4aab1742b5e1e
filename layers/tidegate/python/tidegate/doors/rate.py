"""How many requests a partner has left in this minute."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.doors.valkey import Valkey
from tidegate.rules.pacing import MINUTE


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a partner may still ask."""

    allowed: bool
    limit: int
    """Requests per minute."""
    left: int
    wait: float
    """Seconds until one more may go on; 0 if it may now."""


class Rate:
    """The posts of all partners."""

    def __init__(self, valkey: Valkey) -> None:
        self._valkey = valkey

    def take(self, partner: str, request: str, limit: int) -> Allowance:
        """Count one request; told twice under the same name it counts once.

        Raises:
            CacheUnavailable: Redis is out of reach; accepting goes on without.
        """
        window = MINUTE * 1000
        allowed, left, millis = self._valkey.run(
            "rate_take",
            [f"tg:{{partner:{partner}}}:posts"],
            [request, f"{window / limit:.6f}", round(window)],
        )
        return Allowance(bool(allowed), limit, int(left), int(millis) / 1000)
