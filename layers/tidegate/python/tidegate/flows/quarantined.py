"""An answer that failed the gate: evidence, not a retry."""

from __future__ import annotations

from tidegate.doors.cache import Cache
from tidegate.doors.quarantine import Quarantine
from tidegate.doors.staged import Staged
from tidegate.flows.ends import Ends
from tidegate.flows.only_helps import only_helps
from tidegate.gate.reason import Reason
from tidegate.gate.verdict import Verdict
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job, JobError, Status
from tidegate.rules.quarantine import Record, Why, entry_hash, made_by
from tidegate.rules.subschemas import member_names


def quarantined(
    job: Job,
    staged: Staged,
    verdict: Verdict,
    entry: Entry,
    ends: Ends,
    quarantine: Quarantine,
    cache: Cache,
) -> tuple[Job, JobError]:
    """End a job whose answer failed, with a record of it, and return it with the error it has.

    Raises:
        LostFence: another attempt has taken over.
    """
    now = ends.clock.now()
    why = _error(verdict.reasons[0], _listed(entry, staged))
    kept = quarantine.kept(_record(job, staged, verdict, entry, now), staged)
    ended = ends.endings.end(job, Status.QUARANTINED, why, now=now, kept=kept, owed=True)
    ends.copy(ended)
    with only_helps(ends.telemetry, job.model):
        cache.unstage(job.job_key)
    ends.telemetry.bind(error_class=why.code)
    ends.telemetry.count("Quarantined", model=job.model)
    ends.telemetry.info(
        "answer_quarantined", reasons=len(verdict.reasons), **_versions(staged, entry)
    )
    return ended, why


def _error(first: Reason, listed: frozenset[str]) -> JobError:
    """Return what the partner is told: of places only those whose names are not the answer's."""
    steps = first.pointer.split("/")[1:]
    known = all(step.isdecimal() or step in listed for step in steps)
    where = f"{first.pointer}: " if steps and known else ""
    return JobError("gate", first.code, where + first.message, "gate")


def _listed(entry: Entry, staged: Staged) -> frozenset[str]:
    """Return the names of members that the schemas of an answer list; images have one place."""
    contract = None if entry.contract is None else entry.contract.schema_
    asked = staged.expected.response_schema
    return member_names(contract) | member_names(asked) | {"images"}


def _record(job: Job, staged: Staged, verdict: Verdict, entry: Entry, now: float) -> Record:
    return Record(
        job_id=job.id,
        attempt=job.attempt,
        partner=job.partner,
        model=job.model,
        task=job.task,
        at=now,
        reasons=tuple(Why(each.code, each.pointer, each.message) for each in verdict.reasons),
        prompt={"kept_at": f"job#{job.id}/input", "fingerprint": job.fingerprint},
        made_by=made_by(job.model, entry, staged.answered_by) | {"catalogue": entry_hash(entry)},
        correlation={
            "request": job.correlation_id,
            "vendor_request": staged.vendor_request_id or "",
            "idempotency_key_hash": job.idempotency_hash,
        },
    )


def _versions(staged: Staged, entry: Entry) -> dict[str, str]:
    """Return what a jump in failures is first compared with: whose model changed."""
    return {"version": entry.version, "answered_by": staged.answered_by or ""}
