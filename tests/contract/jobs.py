"""What tests of working share: a report, and reading and draining a pipeline."""

from __future__ import annotations

from typing import Any

from tests.pipeline import Pipeline
from tidegate.rules.job import Job

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
