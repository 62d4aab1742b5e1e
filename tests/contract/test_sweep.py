"""The sweeper over real doors: what should have gone on by itself and has not."""

from __future__ import annotations

import json

import pytest

from tests.contract import books
from tests.contract.jobs import EXTRACT, drain, loaded
from tests.contract.test_accept import BODY
from tests.fakes import answer
from tests.pipeline import FUNDS, Pipeline
from tidegate.doors.attempts import Attempts
from tidegate.doors.queue import Queue
from tidegate.errors import LostFence, VendorFailed, VendorRefused
from tidegate.rules.job import Job, Status


class Crashed(BaseException):
    """The process is gone: nothing that handles errors sees it."""


def crash(*_: object, **__: object) -> None:
    raise Crashed


def posted_and_died(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """Post, and let the api die between the transaction and the message."""
    with monkeypatch.context() as patch:
        patch.setattr(Queue, "send", crash)
        with pytest.raises(Crashed):
            pipeline.post(BODY)


def purge(pipeline: Pipeline, model: str) -> None:
    pipeline.sqs.purge_queue(QueueUrl=pipeline.queue_url(model))


def test_a_job_accepted_but_never_queued_is_queued_within_two_minutes(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted_and_died(pipeline, monkeypatch)
    (job,) = books.jobs(pipeline)
    assert pipeline.sweep() == {}  # not yet: its message may be under way

    pipeline.clock.time += 60
    assert pipeline.sweep() == {"sent": 1}
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, job.id).status is Status.COMPLETED
    books.check(pipeline)


def test_the_clients_retry_queues_it_at_once(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted_and_died(pipeline, monkeypatch)
    replay = pipeline.post(BODY)
    assert (replay.status, replay.headers["Idempotent-Replayed"]) == (202, "true")
    drain(pipeline, "chat-mini")
    assert [job.status for job in books.jobs(pipeline)] == [Status.COMPLETED]


def claimed(pipeline: Pipeline, job_id: str, seconds: float = 19) -> Job:
    now = pipeline.clock.now()
    attempts: Attempts = pipeline.worker("chat-mini").attempts
    job = loaded(pipeline, job_id)
    return attempts.claim(job, f"worker-{job.attempt}", now=now, until=now + seconds, start=True)


def test_a_job_whose_worker_died_goes_on(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    purge(pipeline, "chat-mini")  # and its message is lost besides
    claimed(pipeline, job_id)
    pipeline.clock.time += 30
    assert pipeline.sweep() == {"sent": 1}
    drain(pipeline, "chat-mini")
    job = loaded(pipeline, job_id)
    assert (job.status, job.starts) == (Status.COMPLETED, 2)
    books.check(pipeline)


def test_a_living_worker_is_left_alone_and_shut_out_only_after_it(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    held = claimed(pipeline, job_id, seconds=600)
    pipeline.clock.time += 300
    assert pipeline.sweep() == {}
    assert loaded(pipeline, job_id) == held


def test_a_job_whose_workers_die_every_time_is_dead_lettered_with_a_copy(
    pipeline: Pipeline,
) -> None:
    job_id = pipeline.post(BODY).json["id"]
    purge(pipeline, "chat-mini")
    for _ in range(pipeline.models.models["chat-mini"].retry.starts):
        claimed(pipeline, job_id)
        pipeline.clock.time += 30
    assert pipeline.sweep() == {"ended": 1}
    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["error"]["code"]) == ("dead_lettered", "starts_used_up")
    (copy,) = pipeline.bodies(pipeline.dlq_url("chat-mini"))
    assert json.loads(copy) == {"v": 1, "job_id": job_id, "reason": "starts_used_up"}
    assert books.check(pipeline)["acme"]["available"] == FUNDS


@pytest.mark.parametrize("started", [False, True])
def test_a_job_past_its_deadline_ends(pipeline: Pipeline, *, started: bool) -> None:
    job_id = pipeline.post({**BODY, "deadline_seconds": 60}).json["id"]
    purge(pipeline, "chat-mini")
    if started:
        claimed(pipeline, job_id)
    pipeline.clock.time += 61
    assert pipeline.sweep() == {"ended": 1}
    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert job["status"] == ("failed" if started else "expired")
    assert job["error"]["code"] == "deadline_exceeded"
    assert books.check(pipeline)["acme"]["available"] == FUNDS


def test_a_waiting_job_is_looked_at_less_and_less_often(pipeline: Pipeline) -> None:
    pipeline.post({**BODY, "deadline_seconds": 3600})
    sent = 0
    for _ in range(58):
        pipeline.clock.time += 60
        sent += pipeline.sweep().get("sent", 0)
    assert 4 <= sent <= 9  # not 58: a job in a long queue is no lost job


def test_nothing_is_sent_before_a_retry_may_begin(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorFailed("503", vendor_status=503, retry_after=200)]
    job_id = pipeline.post(BODY).json["id"]
    pipeline.deliver("chat-mini")
    purge(pipeline, "chat-mini")  # its message is lost
    pipeline.clock.time += 120
    pipeline.sweep()
    assert len(pipeline.vendor.calls) == 1
    pipeline.clock.time += 90
    assert pipeline.sweep() == {"sent": 1}
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, job_id).status is Status.COMPLETED


@pytest.mark.parametrize("model", ["chat-mini", "risk-report"])
def test_a_copy_that_was_not_sent_is_sent(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """The worker dies between ending a job and sending the copy to the DLQ or quarantine."""
    refused = VendorRefused("404", vendor_status=404)
    pipeline.vendor.script = [answer("prose") if model == "risk-report" else refused]
    pipeline.post(EXTRACT if model == "risk-report" else BODY)
    with monkeypatch.context() as patch:
        patch.setattr(Queue, "send_copy", crash)
        with pytest.raises(Crashed):
            pipeline.deliver(model)
    (job,) = books.jobs(pipeline)
    assert job.done
    pipeline.clock.time += 60
    assert pipeline.sweep() == {"copied": 1}
    url = pipeline.dlq_url(model) if model == "chat-mini" else pipeline.quarantine_url
    assert [json.loads(body)["job_id"] for body in pipeline.bodies(url)] == [job.id]
    pipeline.clock.time += 60
    assert pipeline.sweep() == {}


def test_every_page_is_read_and_one_bad_job_hides_no_other(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [pipeline.post({**BODY, "params": {"seed": n}}, f"k{n}").json["id"] for n in range(30)]
    purge(pipeline, "chat-mini")
    original = Queue.send

    def failing(queue: Queue, url: str, job_id: str, partner: str, delay: float = 0) -> None:
        if job_id == ids[3]:
            raise LostFence("as if it had moved on")
        original(queue, url, job_id, partner, delay)

    monkeypatch.setattr(Queue, "send", failing)
    pipeline.clock.time += 60
    assert pipeline.sweep() == {"sent": 29, "moved_on": 1}


def test_it_stops_in_time_and_the_next_minute_goes_on(pipeline: Pipeline) -> None:
    for n in range(3):
        pipeline.post({**BODY, "params": {"seed": n}}, f"k{n}")
    pipeline.clock.time += 60
    assert pipeline.sweep(remaining=4) == {}
    assert pipeline.sweep() == {"sent": 3}


def test_a_job_whose_model_was_taken_out_ends_at_its_deadline(pipeline: Pipeline) -> None:
    job_id = pipeline.post({**BODY, "deadline_seconds": 100}).json["id"]
    rest = {name: e for name, e in pipeline.models.models.items() if name != "chat-mini"}
    pipeline.models = pipeline.models.model_copy(update={"models": rest})
    pipeline.clock.time += 60
    assert pipeline.sweep() == {"unknown_model": 1}
    assert not loaded(pipeline, job_id).done
    pipeline.clock.time += 60
    pipeline.sweep()
    assert loaded(pipeline, job_id).status is Status.EXPIRED
    assert books.check(pipeline)["acme"]["available"] == FUNDS
