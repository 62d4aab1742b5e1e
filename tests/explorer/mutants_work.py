"""Working, broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.explorer import memory_pace, memory_scripts
from tests.explorer.mutants import Patch, mutant
from tidegate.doors import actions, jobs
from tidegate.doors.actions import Action
from tidegate.doors.attempts import SWEEP_GRACE, Attempts
from tidegate.doors.cache import Cache
from tidegate.doors.endings import Done, Endings
from tidegate.doors.envelope import Cached
from tidegate.doors.lease import Lease
from tidegate.errors import LostFence
from tidegate.flows import gatekeeping, work
from tidegate.flows.ends import Ends
from tidegate.flows.finish import Finish
from tidegate.flows.outcome import ACKNOWLEDGED, Outcome
from tidegate.gate.verdict import Verdict
from tidegate.rules.answer import Given
from tidegate.rules.job import Job, Status

FENCE = "#attempt = :attempt AND #version = :version"


def _fence(condition: str) -> list[Patch]:
    def update(pk: str, sk: str, changes: Any, asked: str, values: Any, **named: Any) -> Action:
        return original(pk, sk, changes, asked.replace(FENCE, condition), values, **named)

    original = actions.update
    return [(jobs, "update", update)]


@mutant("no fence", "one job", at=1)
def _() -> list[Patch]:
    return _fence("attribute_exists(pk)")


@mutant("the fence forgets the version", "two partners, shared work", at=1)
def _() -> list[Patch]:
    return _fence("#attempt = :attempt")


@mutant(
    "the fence forgets the attempt",
    at=-1,
    why="every write raises the version",
)
def _() -> list[Patch]:
    return _fence("#version = :version")


@mutant("a transition does not know itself", "one job", at=1)
def _() -> list[Patch]:
    def own(_found: Any, new: Job) -> Job:
        raise LostFence(new.id)

    return [(jobs, "_own", own)]


@mutant("no lease", "two partners, shared work", at=1)
def _() -> list[Patch]:
    return [(Lease, "take", lambda *_: 0.0)]


@mutant("no lease and no flight", "two partners, shared work", at=0)
def _() -> list[Patch]:
    return [(Lease, "take", lambda *_: 0.0), *_no_flight()]


@mutant("no flight", "two partners, shared work", at=1)
def _no_flight() -> list[Patch]:
    def claim(
        self: Attempts, job: Job, token: str, *, now: float, until: float, start: bool
    ) -> Job:
        claimed = replace(
            job, status=Status.PROCESSING, attempt=job.attempt + 1,
            starts=job.starts + start, owner=token, owner_until=until,
            started_at=job.started_at or now, due_at=until + SWEEP_GRACE,
        )  # fmt: skip
        return self._jobs.transition(job, claimed)

    return [(Attempts, "claim", claim)]


def _scripts(name: str, twin: Any) -> list[Patch]:
    return [(memory_scripts, "SCRIPTS", {**memory_scripts.SCRIPTS, name: twin})]


@mutant("a lease does not know its owner", "one job", at=1)
def _() -> list[Patch]:
    def take(redis: Any, keys: Any, args: Any) -> Any:
        held = redis.live(keys[0])
        if held is not None:
            return [0, held[1] - redis.now()]
        return memory_scripts.lease_take(redis, keys, args)

    return _scripts("lease_take", take)


@mutant("a lease has no end", "every worker dies", at=0)
def _() -> list[Patch]:
    def take(redis: Any, keys: Any, args: Any) -> Any:
        return memory_scripts.lease_take(redis, keys, [args[0], 10**9])

    return _scripts("lease_take", take)


@mutant(
    "anybody releases a lease",
    at=-1,
    why="the flight lets one worker at a time call",
)
def _() -> list[Patch]:
    return _scripts("lease_release", lambda redis, keys, _args: redis.delete(keys[0]))


@mutant("a place with the vendor has no end", "every worker dies", at=0)
def _() -> list[Patch]:
    def take(redis: Any, keys: Any, args: Any) -> Any:
        return memory_pace.pace_take(redis, keys, [args[0], 10**9, *args[2:]])

    return _scripts("pace_take", take)


@mutant("the lease ends before the work", "one key twice", at=1)
def _() -> list[Patch]:
    return [(work.Attempt, "lease", property(lambda _attempt: 0.05))]


@mutant("no second look at the cache", "two partners, shared work", at=0)
def _() -> list[Patch]:
    return [(Finish, "from_answer", lambda *_: None)]


@mutant("a staged answer is not used", "one job", at=1)
def _() -> list[Patch]:
    return [(Cache, "staged", lambda *_: None)]


@mutant("no gate", "quarantined", at=0)
def _() -> list[Patch]:
    def judge(_entry: Any, given: Given, *_rest: Any) -> Verdict:
        return Verdict(passed=True, output={"text": given.text}, reasons=())

    return [(gatekeeping, "judge", judge)]


@mutant("promoted before the gate", "quarantined", at=0)
def _() -> list[Patch]:
    def judged(self: Finish, job: Job, staged: Any, entry: Any, **named: Any) -> Outcome:
        now = self.clock.now()
        answer = Cached(job.id, {"text": staged.text}, now, now + 600, now + 600)
        self.cache.promote(job.job_key, answer, now)
        return original(self, job, staged, entry, **named)

    original = Finish.judged
    return [(Finish, "judged", judged)]


@mutant("the answer is kept in Redis alone", "same work, two keys", at=1)
def _() -> list[Patch]:
    def complete(self: Endings, job: Job, done: Done, *, now: float) -> Job:
        answer = replace(done.answer, soft_until=now - 1, hard_until=now - 1)
        return original(self, job, replace(done, answer=answer), now=now)

    original = Endings.complete
    return [(Endings, "complete", complete)]


@mutant("busy: the message is dropped", "two partners, shared work", at=0)
def _() -> list[Patch]:
    return [(work, "defer", lambda *_: ACKNOWLEDGED)]


@mutant("a backoff holds for its own message only", "one key twice", at=1)
def _() -> list[Patch]:
    def loaded(message: Any, job: Job, *rest: Any) -> Outcome:
        return original(message, replace(job, retry_at=0.0), *rest)

    original = work._loaded
    return [(work, "_loaded", loaded)]


@mutant("a bad answer is not counted", "vendor is down", at=0)
def _() -> list[Patch]:
    def fail(self: Attempts, job: Job, error: Any, *, retry_at: float) -> Job:
        return original(self, replace(job, bad_answers=job.bad_answers - 1), error,
                        retry_at=retry_at)  # fmt: skip

    original = Attempts.fail
    return [(Attempts, "fail", fail)]


@mutant("starts have no bound", "every worker dies", at=0)
def _() -> list[Patch]:
    def claim(self: Attempts, job: Job, token: str, *, start: bool, **named: Any) -> Job:
        return original(self, job, token, start=False, **named)

    original = Attempts.claim
    return [(Attempts, "claim", claim)]


@mutant("a dead letter is acknowledged", "vendor is down", at=0)
def _() -> list[Patch]:
    def used_up(self: Ends, job: Job, why: Any = None, *, message: bool = True) -> Outcome:
        original(self, job, why, message=message)
        return ACKNOWLEDGED

    original = Ends.used_up
    return [(Ends, "used_up", used_up)]


@mutant("a double of a held job is acknowledged", "dead-lettered, then the key again", at=1)
def _() -> list[Patch]:
    def loaded(message: Any, job: Job, entry: Any, doors: Any, remaining: Any) -> Outcome:
        if job.held(doors.clock.now()):
            return ACKNOWLEDGED
        return original(message, job, entry, doors, remaining)

    original = work._loaded
    return [(work, "_loaded", loaded)]
