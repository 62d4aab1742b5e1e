"""What is to become of a dead letter: which are meant, and what its job's state allows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tidegate.rules.job import MAX_REPLAYS, REPLAYABLE, Job, Status
from tidegate.rules.replay_request import Filter, ReplayRequest

TOO_OLD = 14 * 86_400
"""Seconds; the DLQ keeps a message no longer, and what was asked is kept little more."""


class Deed(StrEnum):
    """What is done, by the name its result has in the answer."""

    LIST = "listed"
    REPLAY = "replayed"
    """Its job is re-opened and sent; the message is deleted."""
    SEND = "sent_again"
    """Its job waits already (re-opened by a run that was killed): sent; the message is deleted."""
    DELETE = "deleted"
    """Nothing is left to be done for it."""
    DISCARD = "discarded"
    SKIP = "skipped"
    REFUSE = "refused"
    """Its job may not be re-opened; the message stays."""
    FAIL = "failed"
    """A door failed, or others kept changing the job; the message stays."""


DRY = {
    Deed.REPLAY: "would_replay",
    Deed.SEND: "would_send_again",
    Deed.DELETE: "would_delete",
    Deed.DISCARD: "would_discard",
}
"""Results of a dry run, of what removes a message otherwise."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message of a DLQ with what is known of its job."""

    message_id: str | None
    """None: its job was named by the operator, and there is no message of it."""
    job_id: str | None
    """None: a body that is not ours."""
    job: Job | None = None
    """None: its items are gone, or there never was such a job."""
    sent_at: float = 0.0
    """When SQS took it, seconds since the epoch."""
    reason: str | None = None
    """What the body says about why it is here."""


def named(letter: Letter, request: ReplayRequest) -> bool:
    """Return whether the operator named this message or its job."""
    by_message = letter.message_id in (request.message_ids or ())
    return by_message or letter.job_id in (request.job_ids or ())


def chosen(letter: Letter, request: ReplayRequest, now: float) -> bool:
    """Return whether a message is meant by a request without ids.

    A replay also means what an earlier one left: a message whose job has been re-opened since has
    no end any more that a filter by status or code could match.
    """
    wanted = request.filter or Filter()
    if wanted.older_than_seconds is not None and now - letter.sent_at < wanted.older_than_seconds:
        return False
    job = letter.job
    if job is None:
        return (wanted.partner, wanted.code, wanted.status) == (None, None, None)
    if wanted.partner not in {None, job.partner}:
        return False
    if request.action == "replay" and _reopened_since(letter, job):
        return True
    code = job.error.code if job.error else None
    return wanted.code in {None, code} and wanted.status in {None, job.status.value}


def decide(letter: Letter, request: ReplayRequest, now: float) -> tuple[Deed, str | None]:
    """Return what is to be done about a message that is meant, and why if that is not plain."""
    lost = None if letter.message_id else "it has no message in the DLQ"
    if request.action == "list":
        return Deed.LIST, lost or letter.reason
    if request.action == "discard":
        return (Deed.SKIP, lost) if lost else _discarding(letter, request)
    job = letter.job
    if letter.job_id is None:
        return Deed.SKIP, "the body is not ours; it can be discarded by its message id"
    if job is None:
        return Deed.SKIP, "there is no such job"
    if job.untouched:
        return Deed.SEND, lost
    why_not = refusal(job, now)
    if why_not is None:
        return Deed.REPLAY, lost
    if job.status is Status.COMPLETED or not job.done:
        return (Deed.SKIP if lost else Deed.DELETE), why_not
    return (Deed.REFUSE if job.status in REPLAYABLE else Deed.SKIP), why_not


def refusal(job: Job, now: float) -> str | None:
    """Return why a job may not be re-opened, as far as the job itself tells; None if it may.

    Whether the partner's credits reach and its key is still its own, only the re-opening shows.
    """
    if job.status not in REPLAYABLE:
        return f"a job that is {job.status} is not run again"
    if job.cache_status == "negative":
        return "it was never at work: it was told at once how the same work had failed"
    if job.replay_count >= MAX_REPLAYS:
        return f"it was re-opened {job.replay_count} times before"
    if job.finished_at is not None and job.finished_at + TOO_OLD < now:
        return "it ended more than 14 days ago"
    return None


def _discarding(letter: Letter, request: ReplayRequest) -> tuple[Deed, str | None]:
    if letter.job_id is None and letter.message_id not in (request.message_ids or ()):
        return Deed.SKIP, "the body is not ours; it is discarded by its message id only"
    if letter.job is not None and not letter.job.done:
        return Deed.SKIP, f"its job is {letter.job.status}, and has not ended"
    return Deed.DISCARD, None


def _reopened_since(letter: Letter, job: Job) -> bool:
    moved_on = job.status not in REPLAYABLE
    return job.replay_count > 0 and moved_on and letter.sent_at <= job.enqueued_at
