"""How many requests a partner has left in this minute, and how many past the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tidegate.doors.valkey import Script, Valkey
from tidegate.rules.pacing import MINUTE

Counted = Literal["posts", "bypasses"]


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

    def take(self, partner: str, request: str, limit: int, of: Counted = "posts") -> Allowance:
        """Count one request; told twice in a row under the same name it counts once.

        Raises:
            CacheUnavailable: Redis is out of reach; accepting goes on without.
        """
        call = self.asking(partner, request, limit, of)
        return self.heard(limit, self._valkey.run(call.name, call.keys, call.args))

    def asking(self, partner: str, request: str, limit: int, of: Counted = "posts") -> Script:
        """Return the counting of one request, to be done in one round trip with others."""
        window = MINUTE * 1000
        key = f"tg:{{partner:{partner}}}:{of}"
        return Script("rate_take", (key,), (request, f"{window / limit:.6f}", round(window)))

    def heard(self, limit: int, reply: Sequence[int]) -> Allowance:
        """Return what the reply to a counting says."""
        allowed, left, millis = reply
        return Allowance(bool(allowed), limit, int(left), int(millis) / 1000)
