"""What is kept of an answer that failed the gate, and what an operator may decide about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tidegate.rules.canonical import sha256
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import MAX_REPLAYS, OPERATOR, Job, Status

KEPT = 30 * 86_400
"""Seconds a record is kept. The job, and what was asked, are kept for as long."""

State = Literal["open", "released", "discarded"]


@dataclass(frozen=True, slots=True)
class Why:
    """One reason, as the gate gave it; never quotes the answer."""

    code: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What an operator decided."""

    state: State
    by: str
    why: str
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Record:
    """One answer that failed. The raw answer is beside it (doors/quarantine.py)."""

    job_id: str
    attempt: int
    partner: str
    model: str
    task: str
    at: float
    """Seconds since the epoch."""
    reasons: tuple[Why, ...]
    prompt: dict[str, str]
    """Where what was asked is kept, and the fingerprint of the whole request."""
    made_by: dict[str, str]
    """Model, its version, the vendor's model and the one that it says it ran, the contract's
    version, and the hash of the catalogue's entry."""
    correlation: dict[str, str]
    """Of the request, of the vendor's answer, and of the Idempotency-Key (hashed)."""
    cut: bool = False
    """Whether only the beginning of the raw answer was kept."""
    decision: Decision | None = None

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Record:
        """Return the record in its fields, as `asdict` and JSON leave them."""
        return cls(**{**fields, "reasons": tuple(Why(**each) for each in fields["reasons"])})


def made_by(model: str, entry: Entry, answered_by: str | None = None) -> dict[str, str]:
    """Return who answered: what an operator asks first of an answer that is wrong."""
    made = {
        "model": model,
        "version": entry.version,
        "vendor": entry.vendor,
        "vendor_model": entry.vendor_model,
        "contract": entry.contract.version if entry.contract else "",
    }
    return made if answered_by is None else {**made, "answered_by": answered_by}


def entry_hash(entry: Entry) -> str:
    """Return the version of an entry of the catalogue: twelve hex digits of its hash."""
    return sha256(entry.model_dump(mode="json", by_alias=True))[:12]


def refusal(job: Job | None, record: Record | None) -> str | None:
    """Return why a job's answer cannot be released, as far as these tell; None if it can."""
    if job is None or record is None:
        return "there is no such record"
    if record.decision is not None:
        return f"it was {record.decision.state} by {record.decision.by}"
    if job.partner == OPERATOR:
        return "nobody waits for it: it was to refresh the cache"
    if job.status is not Status.QUARANTINED or record.attempt != job.attempt:
        return f"its job is {job.status} by now"
    if record.cut:
        return "only its beginning was kept"
    if job.replay_count >= MAX_REPLAYS:
        return f"its job was re-opened {job.replay_count} times before"
    return None
