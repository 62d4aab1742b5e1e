"""Loading a reference set, and saying what is loaded: an operator's work, done by no function.

Two loads of one set at once: the one that ends first is valid, the other one raises and removes
what it wrote. A load that dies leaves a generation behind that nobody points at; one that comes an
hour later removes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import Clock, Ids
from tidegate.doors.actions import Action, delete, put, update
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.items import millis
from tidegate.doors.references_dynamodb import (
    LONGEST,
    SHARDS,
    Current,
    member_key,
    read_current,
    set_key,
    shard_key,
)
from tidegate.errors import Conflict, DoorError

AT_ONCE = 8
"""Threads that write, each some hundred members at a time."""

PART = 100

DEAD_AFTER = 3600.0
"""Seconds after which a load that has not ended is taken for one that never will."""

_MARK = "generation#"
_LAST = "\U0010ffff" * (LONGEST // 4)
"""No member comes after it."""

Report = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did."""

    current: Current
    before: Current | None
    """What was valid until then."""
    left: str | None = None
    """Why what was valid earlier is still there; None: it is not."""


class ReferenceSets:
    """The reference table, as it is written."""

    def __init__(self, table: Table, clock: Clock, ids: Ids) -> None:
        self._table = table
        self._clock = clock
        self._ids = ids

    def describe(self, name: str) -> Current | None:
        """Return what is loaded of a set, or None."""
        return read_current(self._table, name)

    def load(
        self,
        name: str,
        members: Sequence[str],
        *,
        by: str,
        why: str,
        report: Report = lambda _written: None,
    ) -> Loaded:
        """Make these the members of a set, all at once; `report` is told how many are written.

        Members are distinct, 1 to `LONGEST` bytes. Broken off before the end, nothing has changed.

        Raises:
            ValueError: there is no member.
            Conflict: another load of the set ended meanwhile.
            Throttled: DynamoDB did not keep up.
        """
        if not members:
            raise ValueError("a set has one member at least")
        # In this order: a load that reads `current` too late to fail below has no mark yet when
        # the other one looks for what it may remove.
        before = self.describe(name)
        current = self._begin(name, members, before, by, why)
        self._write([_member(name, current.generation, each) for each in members], report)
        old = self._old(name, current, before)
        self._switch(name, current, before)
        try:
            for generation in old:
                self._remove(name, generation)
        except (
            DoorError,
            ClientError,
            BotoCoreError,
        ) as error:  # valid for all that
            return Loaded(current, before, str(error))
        return Loaded(current, before)

    def _begin(
        self, name: str, members: Sequence[str], before: Current | None, by: str, why: str
    ) -> Current:
        now = self._clock.now()
        generation = f"{millis(now)}-{self._ids.token()}"
        mark = {"pk": set_key(name), "sk": _MARK + generation, "begun_at": millis(now), "by": by}
        self._table.write([put(mark)])
        previous = before.generation if before else None
        return Current(generation, len(members), members[0], now, by, why, previous)

    def _switch(self, name: str, current: Current, before: Current | None) -> None:
        """Make a generation the current one, unless another one became it meanwhile."""
        item = {
            "pk": set_key(name),
            "sk": "current",
            "generation": current.generation,
            "members": current.members,
            "witness": current.witness,
            "loaded_at": millis(current.loaded_at),
            "by": current.by,
            "why": current.why,
            "previous": current.previous,
        }
        condition, values = "attribute_not_exists(pk)", {}
        if before is not None:
            condition, values = "#generation = :before", {":before": before.generation}
        mark = update(
            set_key(name), _MARK + current.generation, {"valid": 1}, "attribute_exists(pk)"
        )
        try:
            self._table.write([put(item, condition, values), mark])
        except ConditionFailed as failed:
            found = failed.found[0]
            if found is not None and found.get("generation") == current.generation:
                return  # our own write, its reply lost
            self._remove(name, current.generation)
            raise Conflict(
                f"set {name}: another load ended meanwhile; this one was undone"
            ) from None

    def _old(self, name: str, current: Current, before: Current | None) -> list[str]:
        """Return the generations that nobody needs once `current` is valid.

        One that was never valid may still be being written, so it is left alone for a while.
        """
        kept = {current.generation, before.generation if before else None}
        dead = millis(self._clock.now() - DEAD_AFTER)
        marks = self._table.query(set_key(name), _MARK, _MARK + "~")
        return [
            generation
            for mark in marks
            if (generation := mark["sk"].removeprefix(_MARK)) not in kept
            and ("valid" in mark or mark["begun_at"] < dead)
        ]

    def _remove(self, name: str, generation: str) -> None:
        """Remove a generation; its mark last, so that one that was broken off is done again."""
        for shard in range(SHARDS):
            pk = shard_key(name, generation, shard)
            gone = [delete(pk, item["sk"]) for item in self._table.query(pk, " ", _LAST)]
            self._write(gone)
        self._table.write([delete(set_key(name), _MARK + generation)])

    def _write(self, actions: Sequence[Action], report: Report = lambda _written: None) -> None:
        """Do puts or deletes, many at once."""
        parts = [actions[first : first + PART] for first in range(0, len(actions), PART)]
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            for part, _done in zip(parts, pool.map(self._table.write_each, parts), strict=True):
                report(len(part))
        finally:
            pool.shutdown(cancel_futures=True)


def _member(name: str, generation: str, member: str) -> Action:
    pk, sk = member_key(name, generation, member)
    return put({"pk": pk, "sk": sk})
