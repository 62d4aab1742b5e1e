"""The log fields of a job: on every line about it, whoever writes it."""

from __future__ import annotations

from tidegate.rules.job import Job
from tidegate.telemetry import Telemetry


def bind(telemetry: Telemetry, job: Job) -> None:
    """Put a job's fields on every line from here on."""
    telemetry.bind(
        request_id=job.correlation_id,
        job_id=job.id,
        idempotency_key_hash=job.idempotency_hash[:16],
        partner=job.partner,
        model=job.model,
        attempt=job.attempt,
    )
