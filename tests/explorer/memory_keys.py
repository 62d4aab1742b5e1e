"""What a Redis holds: strings, hashes and sorted sets, each with its end."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf
from typing import Any

Twin = Callable[["Keys", list[str], list[Any]], Any]
"""What a script of `doors/lua` does, in Python: keys and arguments as Redis gets them."""


class Keys:
    """Value and end by key; times are milliseconds, an end may be infinite."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.values: dict[str, tuple[Any, float]] = {}
        self.wipes = 0

    def live(self, key: str) -> tuple[Any, float] | None:
        """Return a key's value and its end, if it has not ended."""
        held = self.values.get(key)
        if held is not None and held[1] <= self.now():
            del self.values[key]
            return None
        return held

    def get(self, key: str) -> Any:
        """Return a key's value."""
        held = self.live(key)
        return None if held is None else held[0]

    def set(self, key: str, value: Any, millis: float) -> None:
        """Set a key for so long."""
        self.values[key] = (value, self.now() + millis)

    def delete(self, key: str) -> int:
        """Return how many keys went."""
        there = self.live(key) is not None
        self.values.pop(key, None)
        return int(there)

    def wipe(self) -> None:
        """Lose everything."""
        self.values.clear()
        self.wipes += 1

    def expire(self, key: str, millis: float) -> None:
        """Let a key end after so long, if it is there."""
        held = self.live(key)
        if held is not None:
            self.values[key] = (held[0], self.now() + ceil(millis))

    def left(self, key: str) -> float:
        """Return the milliseconds until a key's end, or -1 if there is none, -2 without key."""
        held = self.live(key)
        if held is None:
            return -2
        return -1 if held[1] == inf else held[1] - self.now()

    def fields(self, key: str) -> dict[str, str]:
        """Return a hash; none if there is none."""
        return dict(self.get(key) or {})

    def put(self, key: str, **fields: object) -> None:
        """Set fields of a hash (HSET): a new one has no end."""
        held = self.live(key)
        there, end = ({}, inf) if held is None else held
        self.values[key] = ({**there, **{n: str(v) for n, v in fields.items()}}, end)

    def drop(self, key: str, *names: str) -> None:
        """Remove fields of a hash or members of a sorted set; an empty one is no key."""
        held = self.live(key)
        if held is None:
            return
        left = {name: value for name, value in held[0].items() if name not in names}
        if left:
            self.values[key] = (left, held[1])
        else:
            del self.values[key]

    def add(self, key: str, member: str, score: float) -> None:
        """Put a member into a sorted set (ZADD): a new one has no end."""
        held = self.live(key)
        there, end = ({}, inf) if held is None else held
        self.values[key] = ({**there, member: score}, end)

    def ranked(self, key: str) -> list[tuple[str, float]]:
        """Return a sorted set's members and scores, the lowest first."""
        return sorted((self.get(key) or {}).items(), key=lambda item: (item[1], item[0]))

    def between(self, key: str, first: str, last: str) -> list[str]:
        """Return a sorted set's members by name between two ends: `[a`, `(a`, `-`, `+`."""
        return [m for m, _ in self.ranked(key) if _above(m, first) and _below(m, last)]


def _above(member: str, first: str) -> bool:
    if first[0] in "-+":
        return first == "-"
    return member >= first[1:] if first[0] == "[" else member > first[1:]


def _below(member: str, last: str) -> bool:
    if last[0] in "-+":
        return last == "+"
    return member <= last[1:] if last[0] == "[" else member < last[1:]
