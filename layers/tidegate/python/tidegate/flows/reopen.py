"""Taking an end back, for an operator: by the replay function, the console or the AWS CLI."""

from __future__ import annotations

from tidegate.doors.endings import Endings
from tidegate.errors import NotReplayable
from tidegate.rules.job import Job
from tidegate.rules.replay_verdict import refusal
from tidegate.telemetry import Telemetry


def reopened(job: Job, endings: Endings, now: float, telemetry: Telemetry) -> Job:
    """Return an ended job as it begins anew: queued, paid for again, its attempts unspent.

    Raises:
        NotReplayable: it may not be, and why.
        LostFence: somebody else changed it meanwhile.
    """
    why = refusal(job, now)
    if why is not None:
        raise NotReplayable(why)
    opened = endings.reopen(job, now=now)
    telemetry.count("Reopened", model=job.model)
    telemetry.info("job_reopened", replay_count=opened.replay_count)
    return opened
