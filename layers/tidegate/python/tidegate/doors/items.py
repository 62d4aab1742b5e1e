"""How jobs lie in the table: key names, and the status item to `Job` and back.

pk              sk               what
job#<id>        status           the job, under 1 KB: DynamoDB bills a write by the whole item
                input            what was asked
                metadata         the partner's own notes, if any
                output           what was answered, written once
                quarantine#<n>   what attempt n was answered, and failed the gate
model#<name>    switch           whether an operator has paused it (doors/switches.py)
claim#<hash>    claim            an Idempotency-Key: job id, fingerprint, life
work#<job key>  job#<partner>    the partner's job that is running it
                flight           the attempt that is with the vendor: token, until
                answer           where the durable answer is, and its ages
quarantine#<model>#<day>         pointers to what failed (doors/quarantine.py)
epoch#<whose>   epoch            since when answers of before are void (doors/epochs.py)

Index `due` holds the status items the sweeper must look at: due_shard, due_at.
The ledger has a table of its own (doors/ledger.py).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tidegate.rules.job import Job, JobError, Status, Usage

RETENTION = 30 * 86_400
"""Seconds a job is kept after its deadline."""

_TIMES = (
    "created_at", "enqueued_at", "deadline_at", "started_at", "finished_at", "owner_until",
    "answered_at", "retry_at", "due_at", "newer_than", "resent_at",
)  # fmt: skip
_PLAIN = (
    "id", "partner", "model", "task", "job_key", "fingerprint", "idempotency_hash", "priority",
    "correlation_id", "attempt", "starts", "bad_answers", "put_backs", "version", "owner",
    "upstream_ms", "vendor_request_id", "cache_status", "answer_of", "reserved", "charged",
    "replay_count", "tokens", "reusable", "release_of",
)  # fmt: skip


SHARDS = 10
"""Parts of index `due`: one partition takes 1 000 writes a second
(docs.aws.amazon.com/amazondynamodb: bp-partition-key-design)."""


def shard(job_id: str) -> str:
    """Return the part of index `due` a job is in; ids end in random characters."""
    return str(sum(job_id.encode()) % SHARDS)


def job_pk(job_id: str) -> str:
    """Return the partition of a job."""
    return f"job#{job_id}"


def work_pk(job_key: str) -> str:
    """Return the partition of a work item."""
    return f"work#{job_key}"


def claim_pk(claim: str) -> str:
    """Return the partition of an idempotency claim."""
    return f"claim#{claim}"


def content_sk(partner: str) -> str:
    """Return the sort key of a partner's claim on a work item."""
    return f"job#{partner}"


def millis(seconds: float) -> int:
    """Return a time as it is stored: whole milliseconds."""
    return round(seconds * 1000)


def status_item(job: Job) -> dict[str, Any]:
    """Return the status item of a job."""
    item = {"pk": job_pk(job.id), "sk": "status", **attributes(job)}
    item["expires_at"] = int(job.deadline_at) + RETENTION
    return item


def attributes(job: Job) -> dict[str, Any]:
    """Return a job's attributes as they are stored; None means absent."""
    fields: dict[str, Any] = {name: getattr(job, name) for name in _PLAIN}
    for name in _TIMES:
        value = getattr(job, name)
        fields[name] = None if value is None else millis(value)
    fields["due_shard"] = None if job.due_at is None else shard(job.id)
    fields["status"] = job.status.value
    fields["error"] = None if job.error is None else json.dumps(asdict(job.error))
    fields["input_tokens"] = job.usage.input_tokens
    fields["output_tokens"] = job.usage.output_tokens
    fields["usage_estimated"] = job.usage.estimated or None
    return fields


def job_of(item: dict[str, Any]) -> Job:
    """Return the job in a status item."""
    fields: dict[str, Any] = {name: item[name] for name in _PLAIN if name in item}
    for name in _TIMES:
        if name in item:
            fields[name] = item[name] / 1000
    error = item.get("error")
    return Job(
        **fields,
        status=Status(item["status"]),
        error=None if error is None else JobError(**json.loads(error)),
        usage=Usage(
            item.get("input_tokens", 0),
            item.get("output_tokens", 0),
            item.get("usage_estimated", False),
        ),
    )
