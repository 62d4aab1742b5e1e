"""How a job ends and, for an operator, begins anew: each one transaction, its money with it.

Whoever ends a job settles its reservation in the same write, so no end can forget the money; the
fence (attempt and version) lets only one of several ends be true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidegate.doors.actions import Action, delete, put
from tidegate.doors.answers import stored
from tidegate.doors.attempts import SWEEP_GRACE, flight_freed, let_go
from tidegate.doors.claims import content, kept_claim
from tidegate.doors.envelope import Cached
from tidegate.doors.items import RETENTION, content_sk, job_pk, work_pk
from tidegate.doors.jobs import Jobs, NeededFailed
from tidegate.doors.ledger import Ledger
from tidegate.doors.payloads import Payloads
from tidegate.errors import NotReplayable
from tidegate.rules.job import Job, JobError, Status, Usage


@dataclass(frozen=True, slots=True)
class Done:
    """What a worker has to store of an answer that passed the gate."""

    usage: Usage
    upstream_ms: int | None
    vendor_request_id: str | None
    answer: Cached
    """As others may find it, if the job is reusable."""
    charged: int
    """Micro-credits."""
    found: bool = False
    """Whether an attempt before this one had the answer."""
    structure_key: str | None = None
    """Where it is found besides, under the names of local variables in `names`."""
    names: tuple[str, ...] = ()
    for_others: bool = True
    """Whether the same work may be answered with it, if the job is reusable."""


class Endings:
    """Ends, and their taking back."""

    def __init__(self, jobs: Jobs, payloads: Payloads, ledger: Ledger) -> None:
        self._jobs = jobs
        self._payloads = payloads
        self._ledger = ledger

    def end(
        self,
        job: Job,
        status: Status,
        error: JobError | None,
        *,
        now: float,
        kept: Sequence[Action] = (),
        owed: bool = False,
        bad_answer: bool = False,
    ) -> Job:
        """End a job without an answer; its reservation comes back.

        Args:
            job: the job as it is known.
            status: a final state.
            error: why.
            now: seconds since the epoch.
            kept: what puts something aside for audit (a quarantined answer).
            owed: whether a copy is to go to a queue: until `copied`, the sweeper sees to it.
            bad_answer: whether a bad answer brought it about, to be counted.

        Raises:
            LostFence: the job has moved on.
        """
        ended = let_go(job, status=status, error=error, finished_at=now, retry_at=0.0)
        ended = replace(ended, due_at=now + SWEEP_GRACE if owed else None)
        if bad_answer:
            ended = replace(ended, bad_answers=job.bad_answers + 1)
        needed = [*self._ledger.settle(job, 0, now), *kept]
        return self._jobs.transition(job, ended, needed, _freed(job))

    def cancel(self, job: Job, *, now: float) -> Job:
        """End a job by its partner's wish. A worker's flight is left to it, its answer is not used.

        Raises:
            LostFence: the job has moved on.
        """
        ended = let_go(job, status=Status.CANCELLED, finished_at=now, retry_at=0.0, due_at=None)
        return self._jobs.transition(
            job, ended, self._ledger.settle(job, 0, now), [_content_freed(job)]
        )

    def copied(self, job: Job) -> None:
        """Note that the copy an ended job owed has been sent."""
        self._jobs.look_again(job, None)

    def complete(self, job: Job, done: Done, *, now: float) -> Job:
        """Store the answer, complete the job and capture what it cost.

        Raises:
            LostFence: another attempt has taken over; nothing of this one counts.
        """
        completed = _completed(
            job,
            now,
            answer_of=job.id,
            answered_at=done.answer.answered_at,
            usage=done.usage,
            upstream_ms=done.upstream_ms,
            vendor_request_id=done.vendor_request_id,
            charged=done.charged,
        )
        # The output must outlive every job that points at it.
        keep = int(max(job.deadline_at, done.answer.hard_until)) + 2 * RETENTION
        output = self._payloads.put(f"{job.id}/output-{job.attempt}", done.answer.output)
        item = put({"pk": job_pk(job.id), "sk": "output", **output, "expires_at": keep})
        needed = [item, *self._ledger.settle(job, done.charged, now)]
        freed = [*_found_by(job, done), *_freed(job)]
        return self._jobs.transition(job, completed, needed, freed, answer_found=done.found)

    def complete_from(
        self, job: Job, holder: str, answered_at: float, charged: int, *, now: float
    ) -> Job:
        """Complete a job with the answer another one holds, for `charged` micro-credits."""
        completed = _completed(
            job,
            now,
            answer_of=holder,
            answered_at=answered_at,
            cache_status="hit",
            charged=charged,
        )
        needed = self._ledger.settle(job, charged, now)
        return self._jobs.transition(job, completed, needed, _freed(job), answer_found=True)

    def reopen(self, job: Job, *, now: float) -> Job:
        """Take an end back: a new reservation, all attempts anew, a deadline as long as before.

        The fence goes on counting, so a worker of the time before stays shut out.

        Raises:
            NotReplayable: funds do not reach, its key names another job by now, or the same work
                is running.
            LostFence: the job has moved on.
        """
        reopened = _reopened(job, now)
        return self._reopen(job, reopened, content(reopened, now), now)

    def release(self, job: Job, decided: Sequence[Action], *, now: float) -> Job:
        """Take a quarantine back, for its answer as it is: paid for as any, and nobody else's.

        It claims no work, as it calls nobody; `decided` is what writes down who wants it.

        Raises:
            NotReplayable: funds do not reach, its key names another job by now, or it was decided
                on before.
            LostFence: the job has moved on.
        """
        released = replace(_reopened(job, now), release_of=job.attempt, reusable=False)
        first, *others = decided
        return self._reopen(job, released, first, now, others)

    def _reopen(
        self, job: Job, reopened: Job, second: Action, now: float, others: Sequence[Action] = ()
    ) -> Job:
        needed = [kept_claim(reopened), second, *others, *self._ledger.reserve(reopened, now)]
        try:
            return self._jobs.transition(job, reopened, needed)
        except NeededFailed as failed:
            claimed, there = failed.found[0], failed.found[1]
            if claimed is not None:
                raise NotReplayable(f"its key names {claimed.get('job_id')} by now") from None
            if there is not None and "state" in there:
                raise NotReplayable(f"it was {there['state']} before") from None
            if there is not None:
                raise NotReplayable(f"{there.get('job_id')} is at the same work") from None
            raise NotReplayable("the partner's credits do not reach") from None


def _reopened(job: Job, now: float) -> Job:
    return replace(
        job,
        status=Status.QUEUED,
        starts=0,
        bad_answers=0,
        error=None,
        finished_at=None,
        started_at=None,
        charged=0,
        enqueued_at=now,
        deadline_at=now + (job.deadline_at - job.enqueued_at),
        due_at=now + SWEEP_GRACE,
        replay_count=job.replay_count + 1,
        release_of=None,
    )


def _completed(job: Job, now: float, **answer: Any) -> Job:
    return let_go(
        job,
        status=Status.COMPLETED,
        finished_at=now,
        error=None,
        retry_at=0.0,
        due_at=None,
        **answer,
    )


def _found_by(job: Job, done: Done) -> list[Action]:
    """Return what leads others to the answer; it is left out where a later one is there."""
    if not (job.reusable and done.for_others):
        return []
    found = [stored(job.job_key, done.answer)]
    if done.structure_key is not None:
        found.append(stored(done.structure_key, replace(done.answer, names=done.names)))
    return found


def _freed(job: Job) -> list[Action]:
    """Return what an ended job lets go of: its content claim, and its flight if it has one."""
    return [_content_freed(job), flight_freed(job)] if job.owner else [_content_freed(job)]


def _content_freed(job: Job) -> Action:
    return delete(
        work_pk(job.job_key),
        content_sk(job.partner),
        "attribute_not_exists(pk) OR #job_id = :job_id",
        {":job_id": job.id},
    )
