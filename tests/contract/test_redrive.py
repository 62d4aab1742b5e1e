"""Redrive by the console or by hand: a message put back after its job had ended re-opens it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.contract import books
from tests.contract.jobs import drain, loaded
from tests.contract.replaying import with_one_attempt
from tests.contract.test_accept import BODY, finished
from tests.contract.test_cancel import cancel
from tests.pipeline import FUNDS, Pipeline
from tidegate.doors.queue import Message, body_of
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.flows.outcome import ACKNOWLEDGED, HAND_BACK
from tidegate.flows.work import work
from tidegate.rules.job import MAX_REPLAYS, Job, Status

DOWN = VendorFailed("409", vendor_status=409)


def dead_lettered(pipeline: Pipeline, body: dict[str, Any] = BODY, key: str = "key-1") -> Job:
    """Return a job that ended by the clock of SQS, whose message is in the DLQ."""
    pipeline.clock.time = float(int(time.time()))
    with_one_attempt(pipeline)
    pipeline.vendor.script = [DOWN]
    job_id = pipeline.post(body, key).json["id"]
    drain(pipeline, "chat-mini")
    job = loaded(pipeline, job_id)
    assert job.status is Status.DEAD_LETTERED
    return job


def moved_by_hand(pipeline: Pipeline) -> str:
    """Move the one message of the DLQ back to its queue and return its body."""
    dlq, queue = pipeline.dlq_url("chat-mini"), pipeline.queue_url("chat-mini")
    (message,) = pipeline.sqs.receive_message(QueueUrl=dlq)["Messages"]
    pipeline.sqs.send_message(QueueUrl=queue, MessageBody=message["Body"])
    pipeline.sqs.delete_message(QueueUrl=dlq, ReceiptHandle=message["ReceiptHandle"])
    return message["Body"]


def arrives(pipeline: Pipeline, job: Job, *, sent: float, stamped: float | None = None) -> Any:
    """Return what becomes of a message sent (and stamped) so many seconds after a job's end."""
    end = job.finished_at or 0.0
    message = Message(
        "m", "r", body_of(job.id), end + sent, None if stamped is None else end + stamped
    )
    entry = pipeline.models.models["chat-mini"]
    return work(message, entry, pipeline.worker("chat-mini"), lambda: 9.0)


def test_a_message_moved_by_hand_reopens_its_job_with_a_new_reservation(
    pipeline: Pipeline,
) -> None:
    ended = dead_lettered(pipeline)
    moved_by_hand(pipeline)
    drain(pipeline, "chat-mini")

    job = loaded(pipeline, ended.id)
    assert job.status is Status.COMPLETED
    assert (job.replay_count, job.bad_answers, job.starts) == (1, 0, 1)
    assert job.attempt > ended.attempt  # the fence goes on
    assert job.charged > 0
    books.check(pipeline)
    assert pipeline.bodies(pipeline.dlq_url("chat-mini")) == []
    assert pipeline.post(BODY).json["id"] == ended.id  # its key still names it


def test_a_straggler_does_not(pipeline: Pipeline) -> None:
    ended = dead_lettered(pipeline)
    before_the_end = arrives(pipeline, ended, sent=-1, stamped=-1)
    a_workers_own_send = arrives(pipeline, ended, sent=0.5, stamped=-0.1)
    one_that_hung = arrives(pipeline, ended, sent=100, stamped=1)
    assert {before_the_end, a_workers_own_send, one_that_hung} == {HAND_BACK}
    assert loaded(pipeline, ended.id) == ended


@pytest.mark.parametrize("stamped", [-30.0, None])
def test_an_old_stamp_or_none_after_the_end_is_a_redrive(
    pipeline: Pipeline, stamped: float | None
) -> None:
    ended = dead_lettered(pipeline)
    assert arrives(pipeline, ended, sent=5, stamped=stamped) == ACKNOWLEDGED
    assert loaded(pipeline, ended.id).status is Status.COMPLETED


def test_a_failed_job_may_be_redriven_too(pipeline: Pipeline) -> None:
    pipeline.clock.time = float(int(time.time()))
    pipeline.vendor.script = [VendorRefused("404", vendor_status=404)]
    job_id = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, job_id).status is Status.FAILED
    moved_by_hand(pipeline)  # the copy with the reason
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, job_id).status is Status.COMPLETED
    books.check(pipeline)


def reasons(pipeline: Pipeline) -> list[str]:
    return [
        json.loads(body).get("reason", "")
        for body in pipeline.bodies(pipeline.dlq_url("chat-mini"))
    ]


def test_refused_for_want_of_credits_it_says_so_in_the_dlq(pipeline: Pipeline) -> None:
    price = pipeline.post(BODY, "probe", partner="globex").json["price"]["reserved_micro_credits"]
    drain(pipeline, "chat-mini")
    ended = dead_lettered(pipeline)
    while True:  # the partner spends what it has
        balance = pipeline.ledger.balance("acme").available
        if balance < price:
            break
        spent = replace(ended, id=f"job_spent{balance}", reserved=balance)
        pipeline.ledger._table.write(pipeline.ledger.reserve(spent, 0))
    moved_by_hand(pipeline)
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, ended.id) == ended
    assert reasons(pipeline) == ["not re-opened: the partner's credits do not reach"]


def test_refused_when_its_key_names_another_job_by_now(pipeline: Pipeline) -> None:
    ended = dead_lettered(pipeline)
    again = pipeline.post(BODY).json["id"]  # the client tried again under the same key
    assert again != ended.id
    drain(pipeline, "chat-mini")
    moved_by_hand(pipeline)
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, ended.id) == ended
    assert reasons(pipeline) == [f"not re-opened: its key names {again} by now"]
    books.check(pipeline)


def test_refused_while_the_same_work_runs_for_another_key(pipeline: Pipeline) -> None:
    ended = dead_lettered(pipeline)
    running = pipeline.post(BODY, "another-key").json["id"]
    assert arrives(pipeline, ended, sent=60) == ACKNOWLEDGED
    assert loaded(pipeline, ended.id) == ended
    assert f"not re-opened: {running} is at the same work" in reasons(pipeline)


def test_a_client_and_an_operator_cannot_both_begin_it_anew(pipeline: Pipeline) -> None:
    ended = dead_lettered(pipeline)
    assert arrives(pipeline, ended, sent=60) == ACKNOWLEDGED  # re-opened and completed
    replay = pipeline.post(BODY)
    assert replay.json["id"] == ended.id
    assert replay.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert len(books.jobs(pipeline)) == 1
    books.check(pipeline)


def test_it_is_not_reopened_without_end(pipeline: Pipeline) -> None:
    ended = dead_lettered(pipeline)
    for n in range(1, MAX_REPLAYS + 2):
        pipeline.vendor.script = [DOWN]
        arrives(pipeline, ended, sent=60)
        job = loaded(pipeline, ended.id)
        assert (job.status, job.replay_count) == (Status.DEAD_LETTERED, min(n, MAX_REPLAYS))
    books.check(pipeline)


def test_completed_and_cancelled_jobs_are_never_run_again(pipeline: Pipeline) -> None:
    pipeline.clock.time = float(int(time.time()))
    completed = loaded(pipeline, finished(pipeline))
    waiting = pipeline.post({**BODY, "params": {"seed": 1}}, "b").json["id"]
    cancel(pipeline, waiting)
    cancelled = loaded(pipeline, waiting)
    for job in (completed, cancelled):
        assert arrives(pipeline, job, sent=60) == ACKNOWLEDGED
        assert loaded(pipeline, job.id) == job
    assert len(pipeline.vendor.calls) == 1
    assert books.check(pipeline)["acme"]["available"] == FUNDS - completed.charged
