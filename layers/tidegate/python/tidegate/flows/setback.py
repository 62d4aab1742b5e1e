"""What becomes of a job that cannot go on now, through no fault of its own: it comes again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.errors import CacheUnavailable, LostFence, ReferencesUnavailable
from tidegate.flows.finish import references_delay
from tidegate.flows.outcome import ACKNOWLEDGED, Outcome
from tidegate.rules.job import Job
from tidegate.rules.policies import LEASE_MARGIN

if TYPE_CHECKING:
    from tidegate.flows.work import Doors

REDIS_DOWN_DELAY = 15.0
"""Seconds, and up to twice as many, until work is tried again when Redis is out of reach: nobody
calls without a pace."""


def guarded(job: Job, doors: Doors, step: Callable[[], Outcome]) -> Outcome:
    """Return what a step says, or its deferral: it lost Redis, the references or the fence."""
    try:
        return step()
    except CacheUnavailable:
        doors.telemetry.count("CacheUnavailable", model=job.model)
        delay = REDIS_DOWN_DELAY * (1 + doors.ids.fraction())
        return defer(job, delay, "redis_unavailable", doors)
    except ReferencesUnavailable:
        return defer(job, references_delay(doors.ids), "references_unavailable", doors)
    except LostFence:
        doors.telemetry.count("LostFence", model=job.model)
        return defer(job, LEASE_MARGIN, "lost_fence", doors)


@contextmanager
def flight(claimed: Job, doors: Doors) -> Iterator[None]:
    """Free the flight if the job was taken from its worker: others wait for it to no purpose."""
    try:
        yield
    except LostFence:
        doors.attempts.leave(claimed)
        raise


def defer(job: Job, delay: float, reason: str, doors: Doors) -> Outcome:
    """Come back later without burning a receive: a new message, then this one is done."""
    doors.telemetry.count("Deferrals", model=job.model, reason=reason)
    doors.telemetry.info("deferred", reason=reason, delay_seconds=round(delay, 3))
    return replace(ACKNOWLEDGED, again_after=delay)
