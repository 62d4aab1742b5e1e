"""Reference sets in the deployment's own table, each in generations of which one is current.

A load writes a whole new generation and then points at it, so that a reader sees the old set or the
new one, never a mixture (docs/decisions.md).

    set#<name> / current                            which generation, and who loaded it
    set#<name> / generation#<generation>            a load that was begun
    set#<name>#<generation>#<shard> / <member>      a member
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

from tidegate.clock import Clock
from tidegate.doors.actions import Item
from tidegate.doors.dynamo import Table
from tidegate.errors import ReferenceSetMissing, ReferencesUnavailable

SHARDS = 16
"""Partitions of a generation: one takes 1000 writes a second, and 3000 reads."""

LONGEST = 1024
"""Bytes of a sort key, hence of a member (docs.aws.amazon.com/amazondynamodb/latest/developerguide/
ServiceQuotas.html)."""

REMEMBERED = 30.0
"""Seconds for which a generation is taken for the current one without another look."""

TURNS = 3
"""Generations that one lookup follows a set that is being loaded through."""


@dataclass(frozen=True, slots=True)
class Current:
    """Which generation of a set is valid."""

    generation: str
    members: int
    """How many there are."""
    witness: str
    """One of them. Who finds nobody asks for it, and learns whether the set is there."""
    loaded_at: float
    """Seconds since the epoch."""
    by: str
    why: str
    previous: str | None = None
    """The generation before, which readers that know of no newer one still look into."""


class DynamoSource:
    """One set."""

    def __init__(self, table: Table, name: str, clock: Clock) -> None:
        self._table = table
        self._name = name
        self._clock = clock
        self._current: Current | None = None
        self._until = 0.0

    def known(self, values: frozenset[str]) -> frozenset[str]:
        """Return those values that are members.

        What is missing was missing in a generation that was there and was current before and after
        the look.

        Raises:
            ReferenceSetMissing: the set was never loaded, is empty or its members are gone.
            ReferencesUnavailable: it kept being loaded anew.
        """
        current = self._remembered() or self._read()
        for _ in range(TURNS):
            found = self._found(current, values)
            if values <= found:
                return values
            latest = self._read()
            if latest.generation == current.generation:
                self._check(latest, found)
                return values & found
            current = latest
        raise ReferencesUnavailable(f"set {self._name}: it kept being loaded anew")

    def ready(self) -> None:
        """Return if the set is there.

        Raises:
            ReferenceSetMissing: as above.
        """
        latest = self._read()
        self._check(latest, self._found(latest, ()))

    def _found(self, current: Current, values: Iterable[str]) -> frozenset[str]:
        """Return what there is in a generation of the values that can be in one, and its witness.

        The witness is asked for with them: it costs next to nothing and no round trip.
        """
        wanted = {value for value in values if _can_be_member(value)} | {current.witness}
        keys = [member_key(self._name, current.generation, each) for each in sorted(wanted)]
        return frozenset(item["sk"] for item in self._table.get_many(keys))

    def _check(self, current: Current, found: frozenset[str]) -> None:
        if current.witness not in found:
            raise ReferenceSetMissing(f"set {self._name}: its members are gone; load it again")

    def _remembered(self) -> Current | None:
        return self._current if self._clock.now() < self._until else None

    def _read(self) -> Current:
        current = read_current(self._table, self._name)
        if current is None or current.members <= 0:
            raise ReferenceSetMissing(f"set {self._name}: it was never loaded, or is empty")
        self._current, self._until = current, self._clock.now() + REMEMBERED
        return current


def read_current(table: Table, name: str) -> Current | None:
    """Return which generation of a set is valid; None if it was never loaded."""
    item = table.get(set_key(name), "current")
    return None if item is None else _current(item)


def set_key(name: str) -> str:
    """Return where a set's generations are written down."""
    return f"set#{name}"


def member_key(name: str, generation: str, member: str) -> tuple[str, str]:
    """Return where a member of a generation is."""
    return shard_key(name, generation, crc32(member.encode()) % SHARDS), member


def shard_key(name: str, generation: str, shard: int) -> str:
    """Return the partition of a shard of a generation."""
    return f"set#{name}#{generation}#{shard}"


def _can_be_member(value: str) -> bool:
    """Return whether a value can be a sort key; what cannot is no member of anything."""
    try:
        return 1 <= len(value.encode()) <= LONGEST
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def _current(item: Item) -> Current:
    return Current(
        item["generation"],
        item["members"],
        item["witness"],
        item["loaded_at"] / 1000,
        item["by"],
        item["why"],
        item.get("previous"),
    )
