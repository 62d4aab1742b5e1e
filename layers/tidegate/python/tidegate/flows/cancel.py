"""Cancelling: at once before the start, best effort while the vendor works; twice is once."""

from __future__ import annotations

from tidegate.clock import Clock
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.errors import LostFence, Unavailable
from tidegate.rules.job import Job
from tidegate.telemetry import Telemetry

TURNS = 5
"""How often it is tried while the job moves on under it."""


def cancel(job: Job, jobs: Jobs, endings: Endings, clock: Clock, telemetry: Telemetry) -> Job:
    """Return the job cancelled, or as it ended before.

    A vendor's call that is under way cannot be taken back; its answer finds the job ended and is
    dropped, and the partner pays nothing.

    Raises:
        Unavailable: the job kept moving on.
    """
    for _ in range(TURNS):
        if job.done:
            return job
        try:
            cancelled = endings.cancel(job, now=clock.now())
        except LostFence:
            job = jobs.load(job.id) or job
        else:
            telemetry.count("Ended", model=job.model, status=cancelled.status)
            telemetry.info("job_ended", status=cancelled.status)
            return cancelled
    raise Unavailable("the job is changing at this moment; cancel it again")
