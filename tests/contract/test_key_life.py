"""How long an Idempotency-Key lives, and what frees it: asked of the job, not of lazy TTL."""

from __future__ import annotations

from tests.contract import books
from tests.contract.jobs import ATTEMPTS, drain, loaded
from tests.contract.test_accept import BODY, OTHER, finished
from tests.contract.test_redrive import DOWN
from tests.pipeline import Pipeline
from tidegate.errors import VendorRefused
from tidegate.rules.job import Status

DAY = 86_400


def test_it_lives_a_day_from_the_end_and_is_then_free_for_anything(pipeline: Pipeline) -> None:
    first = finished(pipeline)
    pipeline.clock.time += DAY - 1
    assert pipeline.post(BODY).json["id"] == first
    assert pipeline.post(OTHER).json["code"] == "idempotency_key_reused"

    pipeline.clock.time += 2
    fresh = pipeline.post(OTHER)
    assert fresh.status == 202
    assert fresh.json["id"] != first
    assert "Idempotent-Replayed" not in fresh.headers
    assert pipeline.post(BODY).json["code"] == "idempotency_key_reused"
    books.check(pipeline)


def test_it_does_not_end_while_its_job_waits(pipeline: Pipeline) -> None:
    """From the end, not from the post: a job of a day's deadline keeps its key for two."""
    job_id = pipeline.post(BODY).json["id"]
    pipeline.clock.time += loaded(pipeline, job_id).deadline_at - pipeline.clock.now() - 1
    drain(pipeline, "chat-mini")
    pipeline.clock.time += DAY - 10
    assert pipeline.post(BODY).json["id"] == job_id


def test_a_curable_end_frees_it_for_the_same_body_only(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [DOWN] * ATTEMPTS
    ended = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")
    job = pipeline.get(f"/v1/jobs/{ended}").json
    assert (job["status"], job["error"]["retryable"]) == ("dead_lettered", True)

    assert pipeline.post(OTHER).json["code"] == "idempotency_key_reused"
    again = pipeline.post(BODY)
    assert again.status == 202
    assert again.json["id"] != ended
    drain(pipeline, "chat-mini")
    assert pipeline.post(BODY).json["id"] == again.json["id"]
    assert loaded(pipeline, ended).status is Status.DEAD_LETTERED
    books.check(pipeline)


def test_an_end_that_nothing_cures_is_replayed_and_flagged(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorRefused("400", vendor_status=400)]
    ended = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")
    replay = pipeline.post(BODY)
    assert (replay.status, replay.json["id"], replay.json["status"]) == (200, ended, "failed")
    assert replay.json["error"]["retryable"] is False
    assert replay.headers["Idempotent-Replayed"] == "true"
    assert len(pipeline.vendor.calls) == 1
