"""Cancelling: before the start, amid the vendor's call, after the end, and twice."""

from __future__ import annotations

from tests.contract import books
from tests.contract.jobs import drain, loaded
from tests.contract.test_accept import BODY, finished
from tests.fakes import answer
from tests.pipeline import FUNDS, Answer, Pipeline
from tidegate.rules.job import Status
from tidegate.vendors.base import VendorAnswer, VendorCall


def cancel(pipeline: Pipeline, job_id: str, partner: str = "acme") -> Answer:
    return pipeline.send("POST", f"/v1/jobs/{job_id}/cancel", partner=partner)


def test_a_waiting_job_is_cancelled_and_its_credits_come_back(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    for _ in range(2):
        answered = cancel(pipeline, job_id)
        assert answered.status == 200
        assert (answered.json["status"], answered.json["done"]) == ("cancelled", True)
    drain(pipeline, "chat-mini")

    assert pipeline.vendor.calls == []
    assert books.check(pipeline)["acme"]["available"] == FUNDS
    replay = pipeline.post(BODY)
    assert (replay.status, replay.json["status"]) == (200, "cancelled")
    assert replay.headers["Idempotent-Replayed"] == "true"


def test_amid_the_call_it_is_cancelled_and_the_answer_is_not_delivered(
    pipeline: Pipeline,
) -> None:
    def meanwhile(_call: VendorCall) -> VendorAnswer:
        assert cancel(pipeline, job_id).json["status"] == "cancelled"
        return answer("too late")

    pipeline.vendor.otherwise = meanwhile
    job_id = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")

    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["output"]) == ("cancelled", None)
    assert pipeline.get(f"/v1/jobs/{job_id}/result").status == 409
    assert books.check(pipeline)["acme"] == {"available": FUNDS, "reserved": 0, "captured": 0}

    # The next request for the same work is not held up by the flight of the cancelled one.
    pipeline.vendor.otherwise = lambda _call: answer("in time")
    pipeline.clock.time += 20
    second = pipeline.post(BODY, "another-key").json["id"]
    drain(pipeline, "chat-mini")
    assert pipeline.get(f"/v1/jobs/{second}").json["output"] == {"text": "in time"}


def test_a_finished_job_stays_as_it_is(pipeline: Pipeline) -> None:
    job_id = finished(pipeline)
    before = loaded(pipeline, job_id)
    assert before.status is Status.COMPLETED
    answered = cancel(pipeline, job_id)
    assert (answered.status, answered.json["status"]) == (200, "completed")
    assert answered.json["output"] == {"text": "42"}
    assert loaded(pipeline, job_id) == before


def test_another_partners_job_is_not_there(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    assert cancel(pipeline, job_id, partner="umbrella").status == 404
    assert loaded(pipeline, job_id).status is Status.QUEUED
