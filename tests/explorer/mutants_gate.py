"""The gate, broken: what answers refer to, and what waits to be judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.explorer.memory_table import MemoryTable
from tests.explorer.mutants import Patch, mutant
from tidegate.doors.actions import Action
from tidegate.doors.attempts import Attempts
from tidegate.doors.endings import Done, Endings
from tidegate.doors.references import References
from tidegate.errors import ReferenceSetMissing, ReferencesUnavailable, Throttled, VendorFailed
from tidegate.flows import finish, work
from tidegate.flows.finish import Finish
from tidegate.flows.gatekeeping import Gate
from tidegate.flows.outcome import Outcome
from tidegate.rules.job import Job

WAITS = "references out of reach while it is judged"
UNKNOWN = "a report of an unknown account"
GONE = "a set is missing until the deadline"


def _known(
    trouble: type[Exception], instead: Callable[[frozenset[str]], frozenset[str]]
) -> list[Patch]:
    def known(self: References, name: str, values: frozenset[str]) -> frozenset[str]:
        try:
            return original(self, name, values)
        except trouble:
            return instead(values)

    original = References.known
    return [(References, "known", known)]


@mutant(
    "what cannot be looked up is a member",
    "references out of reach while an unknown account is judged",
    at=0,
)
def _() -> list[Patch]:
    return _known(ReferencesUnavailable, lambda values: values)


@mutant("what cannot be looked up is no member", WAITS, at=0)
def _() -> list[Patch]:
    return _known(ReferencesUnavailable, lambda _values: frozenset())


@mutant("a set that is missing has no members", "a set goes missing until the deadline", at=0)
def _() -> list[Patch]:
    return _known(ReferenceSetMissing, lambda _values: frozenset())


@mutant("what a batch leaves undone is not there", "a report of an account", at=1)
def _() -> list[Patch]:
    def get_many(self: MemoryTable, keys: Any) -> Any:
        try:
            return original(self, keys)
        except Throttled:
            return [{"pk": pk, "sk": sk} for pk, sk in keys[:1]]

    original = MemoryTable.get_many
    return [(MemoryTable, "get_many", get_many)]


@mutant("nobody asks whether a set is there", GONE, at=0)
def _() -> list[Patch]:
    return [(Gate, "ready", lambda *_: None)]


@mutant("references out of reach are a bad answer", WAITS, at=0)
def _() -> list[Patch]:
    def put_back(
        self: Attempts, job: Job, error: Any, *, retry_at: float, answered: bool = False
    ) -> Job:
        if answered:
            return self.fail(job, error, retry_at=retry_at)
        return original(self, job, error, retry_at=retry_at)

    original = Attempts.put_back
    return [(Attempts, "put_back", put_back)]


@mutant("a call whose answer waits was no start", WAITS, at=0)
def _() -> list[Patch]:
    def put_back(self: Attempts, *args: Any, answered: bool = False, **named: Any) -> Job:
        return original(self, *args, **named)

    original = Attempts.put_back
    return [(Attempts, "put_back", put_back)]


@mutant("an answer that cannot be judged is not kept", WAITS, at=0)
def _() -> list[Patch]:
    def unjudged(self: Finish, job: Job, *rest: Any) -> Outcome:
        outcome = original(self, job, *rest)
        self.cache.unstage(job.job_key)
        return outcome

    original = Finish._unjudged
    return [(Finish, "_unjudged", unjudged)]


@mutant("judged before it is staged", "a report of an account", at=1)
def _() -> list[Patch]:
    def judged(self: Finish, job: Job, *rest: Any, found: bool = False) -> Outcome:
        if not found:
            self.cache.unstage(job.job_key)
        return original(self, job, *rest, found=found)

    original = Finish.judged
    return [(Finish, "judged", judged)]


@mutant("fewer images are kept for others", "fewer images than asked for", at=0)
def _() -> list[Patch]:
    def done(**fields: Any) -> Done:
        return Done(**{**fields, "for_others": True})

    return [(finish, "Done", done)]


@mutant("fewer images are for others by Redis alone", "fewer images than asked for", at=0)
def _() -> list[Patch]:
    def promote(self: Finish, job: Job, done: Done, now: float) -> None:
        original(self, job, replace(done, for_others=True), now)

    original = Finish._promote
    return [(Finish, "_promote", promote)]


@mutant("an answer that fails the gate is asked for again", UNKNOWN, at=0)
def _() -> list[Patch]:
    def judged(self: Finish, job: Job, staged: Any, entry: Any, *, found: bool = False) -> Outcome:
        if self.gate.verdict(job, staged, entry).passed:
            return original(self, job, staged, entry, found=found)
        self.cache.unstage(job.job_key)
        return self.failed(job, VendorFailed("it failed the gate"), entry, None)

    original = Finish.judged
    return [(Finish, "judged", judged)]


@mutant("a quarantined answer has its record by and by", UNKNOWN, at=0)
def _() -> list[Patch]:
    def end(self: Endings, *args: Any, kept: Sequence[Action] = (), **named: Any) -> Job:
        ended = original(self, *args, **named)
        if kept:
            self._jobs._table.write(kept)
        return ended

    original = Endings.end
    return [(Endings, "end", end)]


@mutant(
    "another's answer that waits to be judged is not waited for",
    "references out of reach where partners share the work",
    at=0,
)
def _() -> list[Patch]:
    return [(work, "waits_for_gate", lambda _job: False)]
