"""Repair, every minute: what should have gone on by itself and has not.

accepted, but not queued      its message is sent (again)
held by a worker that died    its message is sent, or the job ends if its starts are spent
past its deadline             it ends
ended, a copy still owed      the copy is sent

Every action is conditional on the job being as it was read, and a job that a living worker holds is
left to it, so the sweeper may be wrong about any of it: the index lags, workers go on meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import Clock
from tidegate.doors.attempts import SWEEP_GRACE
from tidegate.doors.due import Due
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.doors.queue import Queue
from tidegate.errors import LostFence, TidegateError
from tidegate.flows.asked import FIRST_LOOK
from tidegate.flows.bound import bind
from tidegate.flows.ends import Ends
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import Job, JobError, Status, waits_for_gate
from tidegate.telemetry import Telemetry

LONGEST_LOOK = 900.0
"""Seconds between looks at a job that waits. Each look doubles a message that may only be waiting
in a long queue, so they come ever less often: as far apart as the job has waited."""

TIME_TO_STOP = 5.0
"""Seconds the function must have left to begin with another job; the next minute goes on."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What the sweeper reaches the world by."""

    due: Due
    jobs: Jobs
    endings: Endings
    ends: Mapping[str, Ends]
    """By model."""
    queue: Queue
    queue_url_prefix: str
    clock: Clock
    telemetry: Telemetry


def sweep(doors: Doors, catalogue: Catalogue, remaining: Callable[[], float]) -> Counter[str]:
    """Return how many jobs each repair was done to."""
    done: Counter[str] = Counter()
    for job_id in doors.due.jobs(doors.clock.now()):
        if remaining() < TIME_TO_STOP:
            doors.telemetry.warn("sweep_unfinished", looked_at=done.total())
            break
        doors.telemetry.fresh()
        model = "-"
        try:
            job = doors.jobs.load(job_id)
            if job is None:
                continue
            model = job.model
            repair = look(job, doors, catalogue)
        except LostFence:  # it has moved on, as it should
            repair = "moved_on"
        except (TidegateError, ClientError, BotoCoreError) as error:  # of this one, not the others
            doors.telemetry.failed("sweep_failed", error)
            repair = "failed"
        done[repair] += 1
        doors.telemetry.count("Swept", model=model, repair=repair)
    return done


def look(job: Job, doors: Doors, catalogue: Catalogue) -> str:
    """Return what was done about a job, if anything had to be.

    Raises:
        LostFence: the job moved on meanwhile.
    """
    now = doors.clock.now()
    bind(doors.telemetry, job)
    if job.due_at is None or job.due_at > now:
        return "nothing"  # the index is behind
    ends, entry = doors.ends.get(job.model), catalogue.models.get(job.model)
    if ends is None or entry is None:
        return _orphan(job, doors, now)
    if job.done:
        ends.copy(job)
        return "copied"
    if job.held(now):
        doors.jobs.look_again(job, job.owner_until + SWEEP_GRACE)
        return "living"
    if job.deadline_at <= now:
        ends.too_late(job)
        return "ended"
    if job.starts >= entry.retry.starts and not waits_for_gate(job):
        ends.used_up(job, message=False)
        return "ended"
    doors.queue.send(
        doors.queue_url_prefix + job.queue, job.id, job.partner, max(0.0, job.retry_at - now)
    )
    waited = max(FIRST_LOOK, min(now - job.enqueued_at, LONGEST_LOOK))
    # The deadline is not to be missed by more than a minute.
    again = min(max(now, job.retry_at) + waited, job.deadline_at)
    doors.jobs.look_again(job, again, resent_at=now)
    return "sent"


def _orphan(job: Job, doors: Doors, now: float) -> str:
    """Return what was done about a job whose model was taken out of the catalogue: it ends.

    Nobody works on it and there is no queue to copy to; its partner's credits come back.
    """
    if job.done:
        doors.endings.copied(job)
    elif job.deadline_at <= now:
        why = JobError("deadline", "model_removed", "its model is no longer offered", "queue")
        doors.endings.end(job, Status.EXPIRED, why, now=now)
    else:
        doors.jobs.look_again(job, job.deadline_at)
    return "unknown_model"
