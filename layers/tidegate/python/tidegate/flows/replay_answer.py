"""What an operator is told of a run through a dead-letter queue."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.clock import rfc3339
from tidegate.rules.replay_verdict import DRY, Deed, Letter


@dataclass(frozen=True, slots=True)
class Item:
    """What became of one message, or of one job without a message."""

    message_id: str | None
    job_id: str | None
    partner: str | None
    status: str | None
    """Of the job, as it was found."""
    code: str | None
    """Of its error, as it was found."""
    sent_at: str | None
    replay_count: int | None
    result: str
    reason: str | None


@dataclass(slots=True)
class Answer:
    """The whole of it."""

    action: str
    model: str
    dry_run: bool
    begun_at: float
    """Seconds since the epoch: `before` of a request that goes on with this one."""
    hidden: int
    """About how many messages were out of sight at the beginning: with another reader, or with a
    run that was killed less than a minute before."""
    looked_at: int = 0
    selected: int = 0
    done: int = 0
    """Of those selected, how many something was done about, or would be."""
    more: bool = False
    """Whether it stopped before it had seen everything."""
    items: list[Item] = field(default_factory=list)

    def note(self, letter: Letter, deed: Deed, why: str | None) -> Item:
        """Add what became of a letter, and return it."""
        job = letter.job
        counts = deed in DRY or deed is Deed.LIST
        item = Item(
            message_id=letter.message_id,
            job_id=letter.job_id,
            partner=job.partner if job else None,
            status=job.status.value if job else None,
            code=job.error.code if job and job.error else None,
            sent_at=rfc3339(letter.sent_at) if letter.sent_at else None,
            replay_count=job.replay_count if job else None,
            result=DRY.get(deed, deed.value) if self.dry_run else deed.value,
            reason=why,
        )
        self.selected += 1
        self.done += counts
        self.items.append(item)
        return item
