"""A function's call to the world as a relay sees it, and who is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

When = Literal["before", "after"]
"""Before the call is passed on; after it was executed, before the reply is delivered."""

ROLES = ("api", "worker")


@dataclass(frozen=True, slots=True)
class Call:
    """One call."""

    role: str
    """`api` or `worker`: whose relay it came through."""
    pid: int
    step: str
    """What it does, in a few words that are the same each time."""
    text: str
    """What was sent."""


class Watch(Protocol):
    """Told every call, in the order in which each process makes them."""

    def seen(self, call: Call) -> When | None:
        """Return when the caller is to be killed, None if it is not."""
        ...

    def kill(self, call: Call, when: When) -> None:
        """Kill the caller."""
        ...
