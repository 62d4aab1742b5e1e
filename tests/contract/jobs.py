"""What tests of working share: jobs and a report, and reading and draining a pipeline."""

from __future__ import annotations

from typing import Any

from tests.pipeline import Pipeline
from tidegate.rules.job import Job, Lane, Status

REPORT = {
    "account_id": 7,
    "confidence_score": 0.5,
    "anomaly_detected": False,
    "risk_level": "LOW",
}
EXTRACT: dict[str, Any] = {"model": "risk-report", "input": {"text": "Account 7 paid twice."}}


def loaded(pipeline: Pipeline, job_id: str) -> Job:
    job = pipeline.api.doors.jobs.load(job_id)
    assert job is not None
    return job


def drain(pipeline: Pipeline, model: str) -> None:
    for _ in range(30):
        if not pipeline.deliver(model):
            return


def job(
    partner: str, name: str = "job_1", *, at: float = 1.0, model: str = "m", lane: Lane = "normal"
) -> Job:
    """Return a job as it waits, accepted at a moment."""
    return Job(
        id=name, partner=partner, model=model, task="chat", job_key="k", fingerprint="f",
        idempotency_hash="i", status=Status.QUEUED, created_at=at, enqueued_at=at,
        deadline_at=at + 3600, priority=lane,
    )  # fmt: skip
