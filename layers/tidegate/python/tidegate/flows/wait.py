"""Waiting for a job on a partner's behalf (`Prefer: wait=N`, RFC 7240)."""

from __future__ import annotations

from tidegate.clock import Clock
from tidegate.doors.jobs import Jobs
from tidegate.rules.job import Job

LONGEST = 25
"""Seconds; API Gateway gives up after 29."""

POLL = 0.25
"""Seconds between looks; each is one consistent read of a small item."""

EARLY = 0.5
"""Seconds before the end at which the answer leaves: clients give up at N and a little."""


def until_done(job: Job, seconds: float, jobs: Jobs, clock: Clock) -> Job:
    """Return the job as it is once it is done, or when the time is over."""
    end = clock.now() + min(seconds, LONGEST) - EARLY
    while not job.done and clock.now() + POLL <= end:
        clock.sleep(POLL)
        job = jobs.load(job.id) or job
    return job
