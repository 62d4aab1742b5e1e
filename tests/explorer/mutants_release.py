"""Quarantine and what operators decide about it, broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.explorer.mutants import Patch, mutant
from tidegate.doors import endings
from tidegate.doors.actions import Action
from tidegate.doors.claims import content
from tidegate.doors.endings import Done, Endings
from tidegate.doors.ledger import Ledger
from tidegate.doors.quarantine import Quarantine
from tidegate.flows import quarantine, sweep, work
from tidegate.flows.asked import Asked
from tidegate.flows.finish import Finish
from tidegate.flows.outcome import Outcome
from tidegate.rules.job import Job

RELEASED = "released"
AT_ONCE = "released and discarded at once"
RUNS = "released while the same work runs"


def _release(change: Any) -> list[Patch]:
    """Replace how a job is re-opened for its answer: given how it was, and what that is given."""

    def release(self: Endings, job: Job, decided: Sequence[Action], *, now: float) -> Job:
        released: Job = change(original, self, job, decided, now)
        return released

    original = Endings.release
    return [(Endings, "release", release)]


@mutant("a release has no reservation of its own", RELEASED, at=0)
def _() -> list[Patch]:
    class Free(Ledger):
        def reserve(self, _job: Job, _now: float) -> list[Action]:
            return []

    def release(
        original: Any, self: Endings, job: Job, decided: Sequence[Action], now: float
    ) -> Any:
        free = Endings(self._jobs, self._payloads, Free(self._ledger._table))
        return original(free, job, decided, now=now)

    return _release(release)


@mutant("a release is decided in a second write", RELEASED, at=0)
def _() -> list[Patch]:
    def release(
        original: Any, self: Endings, job: Job, decided: Sequence[Action], now: float
    ) -> Any:
        opened = original(self, job, [replace(decided[0], kind="ConditionCheck")], now=now)
        self._jobs._table.write(decided)
        return opened

    return _release(release)


@mutant("a released answer is for everybody", RELEASED, at=0)
def _() -> list[Patch]:
    def reopen(self: Endings, job: Job, reopened: Job, *rest: Any) -> Job:
        return original(self, job, replace(reopened, reusable=True), *rest)

    original = Endings._reopen
    return [(Endings, "_reopen", reopen)]


@mutant("a released answer is promoted to Redis", RELEASED, at=0)
def _() -> list[Patch]:
    def promote(self: Finish, job: Job, done: Done, now: float) -> None:
        self.cache.promote(job.job_key, done.answer, now)

    return [(Finish, "_promote", promote)]


@mutant("a released answer is the durable one", RELEASED, at=0)
def _() -> list[Patch]:
    def found_by(job: Job, done: Done) -> list[Action]:
        return original(replace(job, reusable=True), done)

    original = endings._found_by
    return [(endings, "_found_by", found_by)]


@mutant("a released answer is judged again", RELEASED, at=0)
def _() -> list[Patch]:
    def released(self: Finish, job: Job, entry: Any) -> Outcome:
        record = self.quarantine.record(job.id, job.release_of)
        staged = None if record is None else self.quarantine.raw(record)
        assert staged is not None
        return self.judged(job, staged, entry)

    return [(Finish, "released", released)]


@mutant("a released job is begun from the start", RELEASED, at=0)
def _() -> list[Patch]:
    return [(work, "_released", work._unstaged)]


@mutant("a released answer is shown as any other", RELEASED, at=0)
def _() -> list[Patch]:
    def completed(job: Job, now: float, **answer: Any) -> Job:
        return original(job, now, **answer, release_of=None)

    original = endings._completed
    return [(endings, "_completed", completed)]


@mutant("a release claims the work", RUNS, at=0)
def _() -> list[Patch]:
    def reopen(
        self: Endings, job: Job, reopened: Job, second: Action, now: float, *rest: Any
    ) -> Job:
        others = [*(rest[0] if rest else ()), content(reopened, now)]
        return original(self, job, reopened, second, now, others)

    original = Endings._reopen
    return [(Endings, "_reopen", reopen)]


@mutant("who asks for the same joins a released job", "released, and asked for again meanwhile")
def _() -> list[Patch]:
    def is_for(self: Asked, job: Job) -> bool:
        return (job.partner, job.job_key) == (self.partner, self.job_key)

    return [(Asked, "is_for", is_for)]


@mutant(
    "a release removes what another has staged",
    "released while another's answer waits to be judged",
    at=0,
)
def _() -> list[Patch]:
    def promote(self: Finish, job: Job, done: Done, now: float) -> None:
        original(self, job, done, now)
        self.cache.unstage(job.job_key)

    original = Finish._promote
    return [(Finish, "_promote", promote)]


@mutant(
    "credits are not asked for by a release", "released, and credits do not reach at first", at=0
)
def _() -> list[Patch]:
    def reserve(self: Ledger, job: Job, now: float) -> list[Action]:
        first, *others = original(self, job, now)
        return [first, *(replace(each, condition="", values={}) for each in others)]

    original = Ledger.reserve
    return [(Ledger, "reserve", reserve)]


@mutant("a decision overwrites another", AT_ONCE)
def _() -> list[Patch]:
    def decided(self: Quarantine, *args: Any) -> list[Action]:
        return [replace(each, condition="", values={}) for each in original(self, *args)]

    original = Quarantine.decided
    return [(Quarantine, "decided", decided)]


@mutant("an operator hears of another's decision as of his own", AT_ONCE, at=0)
def _() -> list[Patch]:
    return [(quarantine, "_made_before", lambda record, *_: record.decision is not None)]


@mutant("what is discarded stays in S3", "discarded", at=0)
def _() -> list[Patch]:
    return [(Quarantine, "remove", lambda *_: None)]


@mutant("whoever was killed while he discarded has done so", "discarded")
def _() -> list[Patch]:
    def decide(job_id: str, request: Any, doors: Any, entries: Any) -> Any:
        record = doors.quarantine.record(job_id)
        if record is not None and record.decision is not None:
            return quarantine.Done(job_id, record.decision.state)
        return original(job_id, request, doors, entries)

    original = quarantine._decided
    return [(quarantine, "_decided", decide)]


@mutant("what is decided reminds for ever", RELEASED, at=0)
def _() -> list[Patch]:
    return [(quarantine, "_forget", lambda *_: None)]


@mutant("the sweeper ends a job whose answer waits", "references out of reach after the last start")
def _() -> list[Patch]:
    def look(job: Job, doors: Any, catalogue: Any) -> str:
        free = not job.done and not job.held(doors.clock.now())
        if free and job.starts >= catalogue.models[job.model].retry.starts:
            doors.ends[job.model].used_up(job, message=False)
            return "ended"
        return original(job, doors, catalogue)

    original = sweep.look
    return [(sweep, "look", look)]
