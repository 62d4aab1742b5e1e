"""Money, broken."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tests.explorer.mutants import Patch, mutant
from tidegate.doors.actions import Action
from tidegate.doors.claims import Claims
from tidegate.doors.dynamo import ConditionFailed
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.doors.ledger import Ledger
from tidegate.rules.job import Job


def _later(actions: Sequence[Action]) -> tuple[list[Action], list[Action]]:
    money = [action for action in actions if action.table == "ledger"]
    return [action for action in actions if action.table != "ledger"], money


@mutant("money is set aside in a second write", "funds for one of two", at=0)
def _() -> list[Patch]:
    def create(self: Claims, *args: Any, effects: Sequence[Action] = (), **named: Any) -> Any:
        taken = original(self, *args, **named)
        if taken is None and effects:
            self._table.write(effects)
        return taken

    original = Claims.create
    return [(Claims, "create", create)]


@mutant("money is settled in a second write", "one job", at=1)
def _() -> list[Patch]:
    def transition(
        self: Jobs, old: Job, new: Job, needed: Sequence[Action] = (), *rest: Any, **named: Any
    ) -> Job:
        kept, money = _later(needed)
        done = original(self, old, new, kept, *rest, **named)
        if money:
            self._table.write(money)
        return done

    original = Jobs.transition
    return [(Jobs, "transition", transition)]


@mutant("money is settled before the end is written", "two partners, shared work", at=1)
def _() -> list[Patch]:
    def transition(
        self: Jobs, old: Job, new: Job, needed: Sequence[Action] = (), *rest: Any, **named: Any
    ) -> Job:
        kept, money = _later(needed)
        if money:
            with suppress(ConditionFailed):
                self._table.write(money)
        return original(self, old, new, kept, *rest, **named)

    original = Jobs.transition
    return [(Jobs, "transition", transition)]


@mutant("a reservation is not released", "vendor is down", at=0)
def _() -> list[Patch]:
    def settle(self: Ledger, job: Job, captured: int, now: float) -> list[Action]:
        return original(self, job, captured, now) if captured else []

    original = Ledger.settle
    return [(Ledger, "settle", settle)]


@mutant("cancelling keeps the money", "cancelled before the start", at=0)
def _() -> list[Patch]:
    def cancel(self: Endings, job: Job, *, now: float) -> Job:
        free = Endings(self._jobs, self._payloads, _Nothing())  # type: ignore[arg-type]
        return original(free, job, now=now)

    original = Endings.cancel
    return [(Endings, "cancel", cancel)]


class _Nothing:
    def settle(self, _job: Job, _captured: int, _now: float) -> list[Action]:
        return []


@mutant(
    "an entry of the ledger is written whatever is there",
    at=-1,
    why="the fence lets the transaction it is part of happen once",
)
def _() -> list[Patch]:
    def entry(self: Ledger, *args: Any) -> list[Action]:
        put, change = original(self, *args)
        return [replace(put, condition="", values={}), change]

    original = Ledger._entry
    return [(Ledger, "_entry", entry)]


@mutant("funds are not asked for", "funds for one of two", at=0)
def _() -> list[Patch]:
    def entry(self: Ledger, *args: Any) -> list[Action]:
        put, change = original(self, *args)
        return [put, replace(change, condition="", values={})]

    original = Ledger._entry
    return [(Ledger, "_entry", entry)]


@mutant("money of a re-opened job goes by its old name", "dead-lettered and redriven by hand", at=0)
def _() -> list[Patch]:
    return [(Job, "effect", property(lambda job: f"{job.id}#0"))]


@mutant("all that was reserved is charged for a hit on the way", "two partners, shared work", at=0)
def _() -> list[Patch]:
    def complete_from(
        self: Endings, job: Job, holder: str, answered_at: float, _charged: int, *, now: float
    ) -> Job:
        return original(self, job, holder, answered_at, job.reserved, now=now)

    original = Endings.complete_from
    return [(Endings, "complete_from", complete_from)]
