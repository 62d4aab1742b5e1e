"""The job: its states and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Lane = Literal["normal", "low"]
"""A job's priority: each has a queue of its own."""


class Status(StrEnum):
    """Where a job is. The set is closed: clients are told `done` besides."""

    QUEUED = "queued"
    PROCESSING = "processing"
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    DEAD_LETTERED = "dead_lettered"
    QUARANTINED = "quarantined"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


FINAL = frozenset(
    {
        Status.COMPLETED,
        Status.FAILED,
        Status.DEAD_LETTERED,
        Status.QUARANTINED,
        Status.CANCELLED,
        Status.EXPIRED,
    }
)
"""States nobody leaves, but by an operator's replay."""

CURABLE = frozenset({Status.DEAD_LETTERED, Status.EXPIRED})
"""Ends after which the same request may simply be made again."""

REPLAYABLE = frozenset({Status.DEAD_LETTERED, Status.FAILED, Status.EXPIRED})
"""Ends an operator may take back. Never `completed`; `cancelled` is the partner's own wish."""

MAX_REPLAYS = 5
"""Times one job is re-opened at most: each may cost all its attempts again."""

OPERATOR = "_operator"
"""Whose jobs make stale answers anew. No partner can be called so."""

CacheStatus = Literal["hit", "stale", "miss", "request", "stale_refused", "bypass", "negative"]
"""How the cache took part in a job: it answered (fresh or stale), had nothing, was passed by the
caller's wish (`request`; `stale_refused` where only a stale answer was there), is not for such
requests (`bypass`), or knew that the work had just failed (`negative`)."""

KEY_LIFE = 86_400
"""Seconds an Idempotency-Key is remembered after its job has ended."""

RESEND = 30.0
"""Seconds in which a message that was sent must have been seen: SQS hands it out within a second,
and a worker starts within ten. Less than the sweeper waits before it sends one by itself."""


@dataclass(frozen=True, slots=True)
class JobError:
    """Why an attempt or a job failed; holds no text of a vendor, a partner or a model."""

    kind: str
    """Class of the error: a retry class, or `gate`, `deadline`."""
    code: str
    message: str
    stage: str
    """Where it happened: queue, pace, vendor, gate, store."""
    vendor_status: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a vendor counted, or what stands in for its count."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    """Whether one of the two is our own figure: the vendor gave none that can be believed."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job's status item. Times are seconds since the epoch."""

    id: str
    partner: str
    model: str
    task: str
    job_key: str
    fingerprint: str
    idempotency_hash: str
    """Name of the claim of the Idempotency-Key it was made for."""
    status: Status
    created_at: float
    enqueued_at: float
    """When it was accepted, or last re-opened."""
    deadline_at: float
    priority: Lane = "normal"
    correlation_id: str = ""
    attempt: int = 0
    """The fence: each claim raises it, each write of a worker carries it."""
    starts: int = 0
    """Vendor calls begun; written before the call."""
    bad_answers: int = 0
    """Attempts that ended badly; written after."""
    put_backs: int = 0
    """Attempts that were no fault of its own: the vendor was paused for them, and they count for
    nothing but the name of the next call."""
    version: int = 1
    owner: str | None = None
    owner_until: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None
    error: JobError | None = None
    upstream_ms: int | None = None
    vendor_request_id: str | None = None
    cache_status: CacheStatus = "miss"
    answer_of: str | None = None
    """Id of the job that holds the output: this one, or the one whose answer is reused."""
    answered_at: float | None = None
    usage: Usage = Usage()
    reserved: int = 0
    """Micro-credits set aside for it, as long as it runs and after."""
    charged: int = 0
    """Micro-credits it cost; known when it has ended."""
    retry_at: float = 0.0
    """No attempt begins before: what the backoff or the vendor asked for."""
    due_at: float | None = None
    """When the sweeper looks at it next; None if it need not."""
    replay_count: int = 0
    tokens: int = 0
    """Tokens one call may use at most, by estimate: what the pace reserves."""
    newer_than: float = 0.0
    """An answer made before is not for it: its caller asked for a newer one."""
    reusable: bool = True
    """Whether a finished answer may be used for it, and its own for others."""
    resent_at: float | None = None
    """When a message was last sent for it besides the one it was accepted or re-opened with."""
    release_of: int | None = None
    """The attempt whose answer failed the gate and was accepted by an operator all the same."""

    @property
    def from_cache(self) -> bool:
        """Return whether it was answered without a call of its own."""
        return self.cache_status in {"hit", "stale"}

    @property
    def queue(self) -> str:
        """Return the name of the queue its messages go to."""
        return queue_name(self.model, self.priority)

    @property
    def done(self) -> bool:
        """Return whether the job is in a final state."""
        return self.status in FINAL

    @property
    def curable(self) -> bool:
        """Return whether making the same request again may end better."""
        return self.status in CURABLE

    @property
    def untouched(self) -> bool:
        """Return whether no worker has begun it since it was accepted or re-opened."""
        return self.status is Status.QUEUED

    def may_resend(self, now: float) -> bool:
        """Return whether a repeat of its request may send another message for it.

        The first one does at once: whoever accepted the job may have died before it sent any. A
        long queue is no reason for more, so they come ever less often, as the sweeper's do: as far
        apart as the job had waited.
        """
        if not self.untouched:
            return False
        if self.resent_at is None or self.resent_at < self.enqueued_at:
            return True
        return now >= self.resent_at + max(RESEND, self.resent_at - self.enqueued_at)

    @property
    def effect(self) -> str:
        """Return the name its money goes by in the ledger; each re-opening has its own."""
        return f"{self.id}#{self.replay_count}"

    def forgotten(self, now: float) -> bool:
        """Return whether its end is so long ago that its Idempotency-Key is free again."""
        return self.finished_at is not None and self.done and self.finished_at + KEY_LIFE < now

    def held(self, now: float) -> bool:
        """Return whether a worker owns it at this moment."""
        return self.owner is not None and self.owner_until > now


def waits_for_gate(job: Job | None) -> bool:
    """Return whether a job has an answer that could not be judged: it is paid for, and waits."""
    error = None if job is None else job.error
    return job is not None and not job.done and error is not None and error.stage == "gate"


def queue_name(model: str, lane: Lane) -> str:
    """Return the name of a model's queue."""
    return f"{model}-low" if lane == "low" else model
