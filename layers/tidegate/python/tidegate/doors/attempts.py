"""A worker's writes: each one transaction, fenced by the attempt, and able to know itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidegate.doors.dynamo import Action, delete, put, update
from tidegate.doors.items import RETENTION, content_sk, job_pk, millis, work_pk
from tidegate.doors.jobs import Jobs
from tidegate.doors.payloads import Payloads
from tidegate.rules.job import Job, JobError, Status, Usage


@dataclass(frozen=True, slots=True)
class Done:
    """What a worker has to store of an answer that passed the gate."""

    output: dict[str, Any]
    usage: Usage
    upstream_ms: int | None
    vendor_request_id: str | None
    answered_at: float
    hard_until: float


class Attempts:
    """Claiming a job for one attempt, and ending that attempt."""

    def __init__(self, jobs: Jobs, payloads: Payloads) -> None:
        self._jobs = jobs
        self._payloads = payloads

    def claim(self, job: Job, token: str, *, now: float, until: float, start: bool) -> Job:
        """Make the job this worker's until `until`; counts a start if the vendor is to be called.

        Raises:
            LostFence: somebody else has it, or the work is in another attempt's flight.
        """
        claimed = replace(
            job,
            status=Status.PROCESSING,
            attempt=job.attempt + 1,
            starts=job.starts + 1 if start else job.starts,
            owner=token,
            owner_until=until,
            started_at=job.started_at or now,
        )
        flight = update(
            work_pk(job.job_key),
            "flight",
            {"token": token, "until": millis(until), "expires_at": int(until) + 86_400},
            "attribute_not_exists(#token) OR #until < :now OR #token = :set_token",
            {":now": millis(now)},
        )
        return self._jobs.transition(job, claimed, needed=[flight])

    def fail(self, job: Job, error: JobError) -> Job:
        """End an attempt badly: counted, and the job may be tried again."""
        failed = _let_go(job, status=Status.RETRYING, bad_answers=job.bad_answers + 1, error=error)
        return self._jobs.transition(job, failed, freed=[_flight_freed(job)])

    def put_back(self, job: Job, error: JobError) -> Job:
        """End an attempt that was no fault of the job: its start does not count."""
        starts = max(0, job.starts - 1)
        back = _let_go(job, status=Status.RETRYING, starts=starts, error=error)
        return self._jobs.transition(job, back, freed=[_flight_freed(job)])

    def end(
        self,
        job: Job,
        status: Status,
        error: JobError,
        *,
        now: float,
        kept: dict[str, Any] | None = None,
        effects: Sequence[Action] = (),
    ) -> Job:
        """End a job without an answer.

        `kept` is put aside for audit (a quarantined answer). Dead-lettering a job that is being
        processed counts the bad answer that brought it about.
        """
        ended = _let_go(job, status=status, error=error, finished_at=now)
        if status is Status.DEAD_LETTERED and job.status is Status.PROCESSING:
            ended = replace(ended, bad_answers=job.bad_answers + 1)
        needed = list(effects)
        if kept is not None:
            attributes = self._payloads.put(f"{job.id}/quarantine-{job.attempt}", kept)
            needed.append(put({**_kept(job, "quarantine"), **attributes}))
        return self._jobs.transition(job, ended, needed, _freed(job))

    def complete(self, job: Job, done: Done, *, now: float, effects: Sequence[Action] = ()) -> Job:
        """Store the answer and complete the job.

        Raises:
            LostFence: another attempt has taken over; nothing of this one counts.
        """
        completed = _completed(
            job,
            now,
            answer_of=job.id,
            answered_at=done.answered_at,
            usage=done.usage,
            upstream_ms=done.upstream_ms,
            vendor_request_id=done.vendor_request_id,
        )
        # The output must outlive every job that points at it.
        keep = int(max(job.deadline_at, done.hard_until)) + 2 * RETENTION
        output = self._payloads.put(f"{job.id}/output-{job.attempt}", done.output)
        answer = {
            "pk": work_pk(job.job_key),
            "sk": "answer",
            "job_id": job.id,
            "answered_at": millis(done.answered_at),
            "hard_until": millis(done.hard_until),
            "expires_at": int(done.hard_until) + 86_400,
        }
        stored = [put({**_kept(job, "output"), **output, "expires_at": keep}), put(answer)]
        return self._jobs.transition(job, completed, [*stored, *effects], _freed(job))

    def complete_from(
        self,
        job: Job,
        holder: str,
        answered_at: float,
        *,
        now: float,
        effects: Sequence[Action] = (),
    ) -> Job:
        """Complete a job with the answer another one holds."""
        completed = _completed(
            job, now, answer_of=holder, answered_at=answered_at, cache_status="hit"
        )
        return self._jobs.transition(job, completed, effects, _freed(job))


def _let_go(job: Job, **changes: Any) -> Job:
    """Return a job that no worker owns any more."""
    return replace(job, owner=None, owner_until=0.0, **changes)


def _completed(job: Job, now: float, **answer: Any) -> Job:
    return _let_go(job, status=Status.COMPLETED, finished_at=now, error=None, **answer)


def _kept(job: Job, sk: str) -> dict[str, Any]:
    return {"pk": job_pk(job.id), "sk": sk, "expires_at": int(job.deadline_at) + 2 * RETENTION}


def _freed(job: Job) -> list[Action]:
    """Return what an ended job lets go of: its content claim, and its flight if it has one."""
    content = delete(
        work_pk(job.job_key),
        content_sk(job.partner),
        "attribute_not_exists(pk) OR #job_id = :job_id",
        {":job_id": job.id},
    )
    return [content, _flight_freed(job)] if job.owner else [content]


def _flight_freed(job: Job) -> Action:
    return delete(
        work_pk(job.job_key),
        "flight",
        "attribute_not_exists(pk) OR #token = :token",
        {":token": job.owner},
    )
