"""Working over real doors: each end of a job."""

from __future__ import annotations

import json

import pytest

from tests.contract.jobs import EXTRACT, REPORT, drain, loaded
from tests.contract.test_accept import BODY, finished
from tests.fakes import answer
from tests.pictures import picture
from tests.pipeline import Pipeline
from tidegate.errors import (
    VendorAccount,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
)
from tidegate.rules.job import Status


def test_a_completed_job_tells_what_became_of_it(pipeline: Pipeline) -> None:
    job = pipeline.get(f"/v1/jobs/{finished(pipeline)}").json

    assert (job["status"], job["done"], job["source"]) == ("completed", True, "vendor")
    assert (job["attempts"], job["usage"]) == (1, {"input_tokens": 3, "output_tokens": 5})
    assert job["error"] is None
    assert pipeline.get(f"/v1/jobs/{job['id']}/result").json == {"text": "42"}


def test_the_vendor_is_called_with_the_resolved_request_and_a_key_of_ours(
    pipeline: Pipeline,
) -> None:
    job_id = finished(pipeline, {**BODY, "params": {"seed": 3}})
    (call,) = pipeline.vendor.calls
    assert call.params == {"temperature": 0.0, "max_tokens": 1024, "seed": 3}
    assert call.idempotency_key == f"{job_id}.0.0"


def test_a_retryable_error_is_tried_again_and_then_completes(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorFailed("500", vendor_status=500), VendorTimeout("late")]
    job_id = pipeline.post(BODY).json["id"]

    pipeline.deliver("chat-mini")
    retrying = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (retrying["status"], retrying["done"]) == ("retrying", False)
    assert retrying["error"]["code"] == "vendor_failed"
    drain(pipeline, "chat-mini")

    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["attempts"], job["error"]) == ("completed", 3, None)
    keys = [call.idempotency_key for call in pipeline.vendor.calls]
    assert keys == [f"{job_id}.0.{n}" for n in range(3)]


def test_a_retry_waits_at_least_what_the_vendor_asked(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorThrottled("429", vendor_status=429, retry_after=7.2)]
    pipeline.post(BODY)
    pipeline.deliver("chat-mini")
    assert pipeline.deliver("chat-mini") == 0  # not visible yet
    assert len(pipeline.vendor.calls) == 1


def test_attempts_used_up_dead_letter_the_job_and_its_message_reaches_the_dlq(
    pipeline: Pipeline,
) -> None:
    pipeline.vendor.script = [VendorFailed("500", vendor_status=500)] * 20
    job_id = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")

    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["error"]["code"]) == ("dead_lettered", "vendor_failed")
    assert (job["error"]["vendor_status"], job["error"]["retryable"]) == (500, True)
    assert len(pipeline.vendor.calls) == pipeline.models.models["chat-mini"].retry.attempts
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []
    (body,) = pipeline.bodies(pipeline.dlq_url("chat-mini"))
    assert json.loads(body)["job_id"] == job_id
    again = pipeline.post(BODY)  # its end may be cured by trying again
    assert (again.status, again.json["status"]) == (202, "queued")


def test_a_permanent_error_fails_the_job_at_once_with_a_copy_in_the_dlq(
    pipeline: Pipeline,
) -> None:
    pipeline.vendor.script = [VendorRefused("400", vendor_status=400)]
    job_id = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")

    replay = pipeline.post(BODY)
    assert (replay.status, replay.json["status"], replay.json["id"]) == (200, "failed", job_id)
    assert replay.headers["Idempotent-Replayed"] == "true"
    assert len(pipeline.vendor.calls) == 1
    (body,) = pipeline.bodies(pipeline.dlq_url("chat-mini"))
    assert json.loads(body) == {"v": 1, "job_id": job_id, "reason": "vendor_refused"}
    result = pipeline.get(f"/v1/jobs/{job_id}/result")
    assert (result.status, result.json["code"]) == (409, "job_failed")


def test_account_trouble_burns_no_attempt(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorAccount("401", vendor_status=401)]
    job_id = pipeline.post(BODY).json["id"]
    pipeline.deliver("chat-mini")
    job = loaded(pipeline, job_id)
    assert (job.status, job.starts, job.bad_answers) == (Status.RETRYING, 0, 0)


def test_a_report_is_checked_and_served_as_data(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [answer(json.dumps(REPORT))]
    job_id = finished(pipeline, EXTRACT)
    assert pipeline.get(f"/v1/jobs/{job_id}/result").json == {"data": REPORT}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (json.dumps({**REPORT, "risk_level": "SEVERE"}), "schema"),
        (json.dumps({**REPORT, "confidence_score": 1.5}), "schema"),
        (json.dumps({**REPORT, "extra": 1}), "schema"),
        (json.dumps({**REPORT, "account_id": True}), "schema"),
        (json.dumps(REPORT) + " Thank you!", "trailing_text"),
        ('{"account_id": 1, "account_id": 2}', "duplicate_member"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_quarantined_and_never_seen(
    pipeline: Pipeline, text: str, code: str
) -> None:
    pipeline.vendor.script = [answer(text)]
    job_id = finished(pipeline, EXTRACT)

    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["error"]["code"], job["output"]) == ("quarantined", code, None)
    stored = pipeline.get(f"/v1/jobs/{job_id}").headers["Cache-Status"]
    assert stored == "tidegate; fwd=miss"  # nothing was
    assert len(pipeline.vendor.calls) == 1
    (body,) = pipeline.bodies(pipeline.quarantine_url)
    assert json.loads(body) == {"v": 1, "job_id": job_id, "reason": code}
    kept = [i for i in pipeline.items() if i["sk"]["S"] == "quarantine#000001"]
    assert json.loads(kept[0]["body"]["S"])["text"] == text
    assert json.loads(kept[0]["facts"]["S"])["reasons"][0]["code"] == code
    assert pipeline.post(EXTRACT, "another").status == 202  # no cache entry came of it


def test_a_truncated_answer_is_quarantined(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [answer("half an ans", finish="truncated")]
    job_id = finished(pipeline)
    assert pipeline.get(f"/v1/jobs/{job_id}").json["error"]["code"] == "truncated"


def test_images_are_kept_in_our_bucket_and_handed_out_signed(pipeline: Pipeline) -> None:
    image = picture()
    pipeline.vendor.script = [answer(None, images=(image,))]
    body = {"model": "image-studio", "input": {"prompt": "a cat"}, "params": {"seed": 1}}
    job_id = finished(pipeline, body)

    (shown,) = pipeline.get(f"/v1/jobs/{job_id}/result").json["images"]
    assert shown["content_type"] == "image/png"
    assert "X-Amz-Signature" in shown["url"]
    (stored,) = pipeline.s3.list_objects_v2(Bucket="assets")["Contents"]
    assert job_id not in stored["Key"]  # whoever is served it from the cache sees it too
    assert stored["Key"] in shown["url"]
    reply = pipeline.s3.get_object(Bucket="assets", Key=stored["Key"])
    assert reply["Body"].read() == image.content


def test_a_large_output_goes_to_s3(pipeline: Pipeline) -> None:
    text = "word " * 80_000
    pipeline.vendor.script = [answer(text)]
    job_id = finished(pipeline)
    assert pipeline.get(f"/v1/jobs/{job_id}/result").json == {"text": text}


def test_a_deadline_that_passes_before_the_start_expires_the_job(pipeline: Pipeline) -> None:
    job_id = pipeline.post({**BODY, "deadline_seconds": 10}).json["id"]
    pipeline.clock.time += 10
    pipeline.deliver("chat-mini")
    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["error"]["code"]) == ("expired", "deadline_exceeded")
    assert pipeline.vendor.calls == []


def test_a_wait_beyond_the_deadline_fails_the_job_at_once(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorThrottled("429", vendor_status=429, retry_after=21_600)]
    job_id = pipeline.post(BODY).json["id"]
    pipeline.deliver("chat-mini")
    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["error"]["class"]) == ("failed", "deadline")


def test_a_job_that_fails_at_its_deadline_leaves_a_copy_in_the_dlq(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorFailed("500", vendor_status=500)]
    job_id = pipeline.post({**BODY, "deadline_seconds": 10}).json["id"]
    pipeline.deliver("chat-mini")
    pipeline.clock.time += 11
    drain(pipeline, "chat-mini")

    assert pipeline.get(f"/v1/jobs/{job_id}").json["status"] == "failed"
    (body,) = pipeline.bodies(pipeline.dlq_url("chat-mini"))
    assert json.loads(body)["reason"] == "deadline_exceeded"
