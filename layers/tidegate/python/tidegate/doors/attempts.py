"""An attempt's writes: each one transaction, fenced by the attempt, and able to know itself."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from tidegate.doors.actions import Action, delete, update
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.items import millis, work_pk
from tidegate.doors.jobs import Jobs
from tidegate.rules.job import Job, JobError, Status

SWEEP_GRACE = 5.0
"""Seconds after which the sweeper looks at what should have gone on by itself."""


class Attempts:
    """Claiming a job for one attempt, and letting it go without ending it."""

    def __init__(self, jobs: Jobs, table: Table) -> None:
        self._jobs = jobs
        self._table = table

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
            due_at=until + SWEEP_GRACE,
        )
        flight = update(
            work_pk(job.job_key),
            "flight",
            {"token": token, "until": millis(until), "expires_at": int(until) + 86_400},
            "attribute_not_exists(#token) OR #until < :now OR #token = :token",
            {":now": millis(now), ":token": token},
        )
        return self._jobs.transition(job, claimed, needed=[flight])

    def fail(self, job: Job, error: JobError, *, retry_at: float) -> Job:
        """End an attempt badly: counted, and the job is tried again, not before `retry_at`."""
        failed = let_go(
            job,
            status=Status.RETRYING,
            bad_answers=job.bad_answers + 1,
            error=error,
            retry_at=retry_at,
            due_at=retry_at + SWEEP_GRACE,
        )
        return self._jobs.transition(job, failed, freed=[flight_freed(job)])

    def put_back(
        self, job: Job, error: JobError, *, retry_at: float, answered: bool = False
    ) -> Job:
        """End an attempt that was no fault of the job.

        Its start does not count, unless the vendor has answered: that is paid for.
        """
        starts = job.starts if answered else max(0, job.starts - 1)
        back = let_go(
            job,
            status=Status.RETRYING,
            starts=starts,
            put_backs=job.put_backs if answered else job.put_backs + 1,
            error=error,
            retry_at=retry_at,
            due_at=min(retry_at + SWEEP_GRACE, job.deadline_at),
        )
        return self._jobs.transition(job, back, freed=[flight_freed(job)])

    def leave(self, job: Job) -> None:
        """Free the flight of an attempt whose job was taken from it; others need not wait."""
        with suppress(ConditionFailed):  # taken over already
            self._table.write([flight_freed(job)])


def let_go(job: Job, **changes: object) -> Job:
    """Return a job that no worker owns any more."""
    return replace(job, owner=None, owner_until=0.0, **changes)  # type: ignore[arg-type]


def flight_freed(job: Job) -> Action:
    """Return the freeing of an attempt's flight, if it is still its own."""
    return delete(
        work_pk(job.job_key),
        "flight",
        "attribute_not_exists(pk) OR #token = :token",
        {":token": job.owner},
    )
