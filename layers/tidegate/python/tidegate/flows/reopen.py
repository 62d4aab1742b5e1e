"""Taking an end back, for an operator: by the replay function, the console or the AWS CLI."""

from __future__ import annotations

from tidegate.doors.endings import Endings
from tidegate.doors.queue import Message
from tidegate.errors import NotReplayable
from tidegate.flows.ends import Ends
from tidegate.flows.outcome import ACKNOWLEDGED, HAND_BACK, Outcome
from tidegate.rules.job import REPLAYABLE, Job, Status
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


def redriven(message: Message, job: Job, ends: Ends, now: float) -> Job | Outcome:
    """Return the job re-opened, if its message was put back into the queue after it had ended.

    Otherwise what becomes of a message that came after the end: a dead-lettered job's goes back
    until the redrive policy moves it to the DLQ.
    """
    straggler = HAND_BACK if job.status is Status.DEAD_LETTERED else ACKNOWLEDGED
    if job.finished_at is None or not message.redriven_after(job.finished_at):
        return straggler
    if job.status not in REPLAYABLE:
        return straggler
    try:
        return reopened(job, ends.endings, now, ends.telemetry)
    except NotReplayable as refused:
        ends.telemetry.warn("redrive_refused", reason=str(refused))
        ends.queue.send_copy(ends.dlq_url, job.id, job.partner, f"not re-opened: {refused}")
        return ACKNOWLEDGED
