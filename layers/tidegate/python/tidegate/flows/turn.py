"""Whose turn it is: a message may be used for another partner's job, that has waited for it longer.

SQS's fair queues order messages by what they have seen of a partner lately, and only there where
many are in flight; this holds for any number of workers, and for any queue.
"""

from __future__ import annotations

from tidegate.clock import Clock
from tidegate.doors.jobs import Jobs
from tidegate.doors.line import Line
from tidegate.flows.only_helps import only_helps
from tidegate.rules.job import Job
from tidegate.telemetry import Telemetry

TRIES = 3
"""Jobs of others that are looked at; those that were cancelled or taken up meanwhile only leave
the line."""


def next_in_turn(
    job: Job, line: Line, cap: int, jobs: Jobs, clock: Clock, telemetry: Telemetry
) -> Job:
    """Return the job to work on with the message of `job`: it, or another partner's."""
    for _ in range(TRIES):
        name = None
        with only_helps(telemetry, job.model):
            name = line.turn(job, cap)
        if name is None:
            return job
        other = jobs.load(name)
        if other is not None and _ready(other, job, clock.now()):
            return other
    return job


def _ready(other: Job, job: Job, now: float) -> bool:
    """Return whether a job can be begun now by the worker that has `job` in hand."""
    same = (other.model, other.priority) == (job.model, job.priority)
    free = not other.done and not other.held(now)
    return same and free and other.retry_at <= now < other.deadline_at
