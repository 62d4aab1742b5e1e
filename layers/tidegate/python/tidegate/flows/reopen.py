"""Taking an end back, for an operator: by the replay function, the console or the AWS CLI."""

from __future__ import annotations

from tidegate.doors.endings import Endings
from tidegate.errors import NotReplayable
from tidegate.rules.job import MAX_REPLAYS, REPLAYABLE, Job
from tidegate.telemetry import Telemetry

TOO_OLD = 14 * 86_400
"""Seconds; the DLQ keeps a message no longer, and what was asked is kept little more."""


def reopened(job: Job, endings: Endings, now: float, telemetry: Telemetry) -> Job:
    """Return an ended job as it begins anew: queued, paid for again, its attempts unspent.

    Raises:
        NotReplayable: it may not be, and why.
        LostFence: somebody else changed it meanwhile.
    """
    if job.status not in REPLAYABLE:
        raise NotReplayable(f"a job that is {job.status} is not run again")
    if job.replay_count >= MAX_REPLAYS:
        raise NotReplayable(f"it was re-opened {job.replay_count} times before")
    if job.finished_at is not None and job.finished_at + TOO_OLD < now:
        raise NotReplayable("it ended more than 14 days ago")
    opened = endings.reopen(job, now=now)
    telemetry.count("Reopened", model=job.model)
    telemetry.info("job_reopened", replay_count=opened.replay_count)
    return opened
