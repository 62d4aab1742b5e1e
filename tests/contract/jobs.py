"""What tests of working share: jobs and a report, and reading and draining a pipeline."""

from __future__ import annotations

from typing import Any

from tests.contract.virtual import queue
from tests.pipeline import Pipeline, catalogue
from tidegate.rules.backoff import JITTER
from tidegate.rules.job import Job, Lane, Status

REPORT = {
    "account_id": 7,
    "confidence_score": 0.5,
    "anomaly_detected": False,
    "risk_level": "LOW",
}
ATTEMPTS = catalogue().models["chat-mini"].retry.attempts
"""Bad answers after which a job is dead-lettered, of every model."""
EXTRACT: dict[str, Any] = {"model": "risk-report", "input": {"text": "Account 7 paid twice."}}


def loaded(pipeline: Pipeline, job_id: str) -> Job:
    job = pipeline.api.doors.jobs.load(job_id)
    assert job is not None
    return job


def drain(pipeline: Pipeline, model: str) -> None:
    """Work until nothing is left but what was put off; backoffs pass at once."""
    for _ in range(40):
        if not pipeline.deliver(model) and not backed_off(pipeline, model):
            return


def backed_off(pipeline: Pipeline, model: str, lane: str = "") -> bool:
    """Let the longest backoff pass; return whether a message was waiting for its own."""
    policy = pipeline.models.models[model].retry
    waiting = [
        each for each in queue(model + lane)._messages if not each.visible and not each.delayed
    ]
    for message in waiting:
        message.visible_at = 0
    pipeline.clock.time += policy.cap * (1 + JITTER) if waiting else 0.0
    return bool(waiting)


def job(
    partner: str, name: str = "job_1", *, at: float = 1.0, model: str = "m", lane: Lane = "normal"
) -> Job:
    """Return a job as it waits, accepted at a moment."""
    return Job(
        id=name, partner=partner, model=model, task="chat", job_key="k", fingerprint="f",
        idempotency_hash="i", status=Status.QUEUED, created_at=at, enqueued_at=at,
        deadline_at=at + 3600, priority=lane,
    )  # fmt: skip
