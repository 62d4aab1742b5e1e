"""One record in words: its facts, and, where it is asked for, its answer."""

from __future__ import annotations

from collections.abc import Iterator

from cli.shown import moment
from tidegate.doors.staged import Staged
from tidegate.rules.job import Job
from tidegate.rules.quarantine import Record


def facts(record: Record, job: Job | None) -> Iterator[tuple[str, str]]:
    """Yield what is known of a record, by name. The answer, and what was asked, are not in it."""
    yield "job", record.job_id
    yield "status", job.status if job is not None else "the job is gone"
    yield "partner", record.partner
    yield "model", record.model
    yield "task", record.task
    yield "attempt", str(record.attempt)
    yield "at", moment(record.at)
    for why in record.reasons:
        yield "reason", f"{' '.join(filter(None, (why.code, why.pointer)))}: {why.message}"
    for group in ("prompt", "made_by", "correlation"):
        for name, value in getattr(record, group).items():
            yield f"{group}.{name}", value or "-"
    yield "kept", "its beginning" if record.cut else "whole"
    decision = record.decision
    if decision is None:
        yield "decision", "none: it is open"
    else:
        when = moment(decision.at)
        yield "decision", f"{decision.state} by {decision.by}, {when}: {decision.why}"


def answer_of(raw: Staged | None) -> str:
    """Return a raw answer as text; of images, their keys in the assets bucket and what they are."""
    if raw is None:
        return "(it is gone)"
    if raw.text is not None:
        return raw.text or "(no words)"
    if not raw.images:
        return "(no images)"
    return "\n".join(
        f"{each.key}  {each.kind or 'unknown'}, {each.width} x {each.height}" for each in raw.images
    )
