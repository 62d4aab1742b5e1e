"""The replay function over real doors: what it runs again, and what it leaves alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.local import redis
from tests.contract.jobs import loaded
from tests.contract.replaying import (
    MODEL,
    bodies,
    dead_letters,
    differences,
    replayed,
    results,
    run,
    work,
)
from tests.pipeline import Pipeline
from tidegate.doors.queue import body_of
from tidegate.errors import VendorRefused
from tidegate.rules.job import MAX_REPLAYS, Status


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: dead letters are the same over either kind."""
    redis.flush(redis_single)
    return redis_single


def put(pipeline: Pipeline, body: str) -> str:
    """Put a message into the DLQ, past Tidegate; return its id."""
    url = pipeline.dlq_url(MODEL)
    return pipeline.sqs.send_message(QueueUrl=url, MessageBody=body)["MessageId"]


def test_dead_letters_run_again_and_are_charged_once(pipeline: Pipeline) -> None:
    jobs = dead_letters(pipeline, 3)
    answer = replayed(pipeline)

    assert results(answer) == ["replayed"] * 3
    assert (answer["looked_at"], answer["selected"], answer["done"]) == (3, 3, 3)
    assert (answer["more"], answer["dry_run"], answer["hidden"]) == (False, False, 0)
    assert {item["job_id"] for item in answer["items"]} == set(jobs)
    assert {(i["status"], i["code"], i["partner"]) for i in answer["items"]} == {
        ("dead_lettered", "vendor_failed", "acme")
    }
    assert bodies(pipeline) == []
    waiting = pipeline.bodies(pipeline.queue_url(MODEL))
    assert sorted(waiting) == sorted(map(body_of, jobs))  # fresh, nothing nested

    work(pipeline)
    for job_id in jobs:
        job = loaded(pipeline, job_id)
        assert (job.status, job.replay_count) == (Status.COMPLETED, 1)
    assert len(pipeline.vendor.calls) == 3
    captured = [e for e in pipeline.ledger.entries("acme") if e.captured]
    assert [e.kind for e in captured] == ["capture"] * 3
    assert differences(pipeline) == []


@pytest.mark.parametrize("event", [{}, {"filter": {"partner": "acme"}}, {"dry_run": True}])
@pytest.mark.parametrize("action", ["replay", "discard"])
def test_a_dry_run_changes_nothing(pipeline: Pipeline, action: str, event: Any) -> None:
    dead_letters(pipeline, 2)
    put(pipeline, bodies(pipeline)[0])
    before = (pipeline.items(), sorted(bodies(pipeline)), pipeline.ledger.balance("acme"))

    answer = run(pipeline, {"action": action, **event})
    expected = ["would_delete", "would_replay", "would_replay"]
    assert results(answer) == (expected if action == "replay" else ["would_discard"] * 3)
    assert (answer["dry_run"], answer["done"]) == (True, 3)
    after = (pipeline.items(), sorted(bodies(pipeline)), pipeline.ledger.balance("acme"))
    assert after == before
    assert pipeline.bodies(pipeline.queue_url(MODEL)) == []
    assert len(pipeline.bodies(pipeline.dlq_url(MODEL))) == 3  # all can be seen again at once


def test_named_jobs_are_run_without_asking_twice(pipeline: Pipeline) -> None:
    first, second = dead_letters(pipeline, 2)
    answer = run(pipeline, {"action": "replay", "job_ids": [first]})
    assert [(i["job_id"], i["result"]) for i in answer["items"]] == [(first, "replayed")]
    assert [json.loads(body)["job_id"] for body in bodies(pipeline)] == [second]

    listed = run(pipeline, {"action": "list"})
    (item,) = listed["items"]
    assert (item["job_id"], item["result"], item["replay_count"]) == (second, "listed", 0)
    by_message = {"action": "replay", "message_ids": [item["message_id"]]}
    assert results(run(pipeline, by_message)) == ["replayed"]
    assert results(run(pipeline, by_message)) == ["skipped"]  # it is not there any more


def test_a_completed_job_is_never_run_again(pipeline: Pipeline) -> None:
    (job_id,) = dead_letters(pipeline, 1)
    replayed(pipeline)
    work(pipeline)
    for _ in range(2):
        put(pipeline, body_of(job_id))
    job, calls = loaded(pipeline, job_id), len(pipeline.vendor.calls)
    assert job.status is Status.COMPLETED

    assert results(replayed(pipeline)) == ["deleted", "deleted"]
    assert results(replayed(pipeline, job_ids=[job_id])) == ["skipped"]
    work(pipeline)
    assert (loaded(pipeline, job_id), len(pipeline.vendor.calls)) == (job, calls)
    assert bodies(pipeline) == []


def test_two_letters_of_one_job_re_open_it_once(pipeline: Pipeline) -> None:
    (job_id,) = dead_letters(pipeline, 1)
    put(pipeline, json.dumps({"v": 1, "job_id": job_id, "reason": "vendor_failed"}))
    assert results(replayed(pipeline)) == ["deleted", "replayed"]
    assert loaded(pipeline, job_id).replay_count == 1
    assert len(pipeline.bodies(pipeline.queue_url(MODEL))) == 1


def test_a_job_without_a_letter_can_be_named(pipeline: Pipeline) -> None:
    (job_id,) = dead_letters(pipeline, 1)
    pipeline.sqs.purge_queue(QueueUrl=pipeline.dlq_url(MODEL))
    (item,) = replayed(pipeline, job_ids=[job_id, "job_unknown"])["items"][:1]
    assert (item["result"], item["message_id"]) == ("replayed", None)
    assert item["reason"] == "it has no message in the DLQ"
    work(pipeline)
    assert loaded(pipeline, job_id).status is Status.COMPLETED


def test_a_waiting_job_is_sent_again_and_a_running_one_left_alone(pipeline: Pipeline) -> None:
    waiting, running = dead_letters(pipeline, 2)
    for job_id in (waiting, running):
        replayed(pipeline, job_ids=[job_id])
        put(pipeline, body_of(job_id))
    now = pipeline.clock.now()
    pipeline.worker(MODEL).attempts.claim(
        loaded(pipeline, running), "token", now=now, until=now + 60, start=True
    )
    pipeline.sqs.purge_queue(QueueUrl=pipeline.queue_url(MODEL))

    answer = {item["job_id"]: item["result"] for item in replayed(pipeline)["items"]}
    assert answer == {waiting: "sent_again", running: "deleted"}
    assert pipeline.bodies(pipeline.queue_url(MODEL)) == [body_of(waiting)]
    assert loaded(pipeline, running).status is Status.PROCESSING
    assert [loaded(pipeline, each).replay_count for each in (waiting, running)] == [1, 1]
    assert bodies(pipeline) == []


def test_what_is_not_to_be_run_stays_with_the_reason(pipeline: Pipeline) -> None:
    spent, cancelled, poor = dead_letters(pipeline, 3)
    for _ in range(MAX_REPLAYS):
        run_down(pipeline, spent)
    replayed(pipeline, job_ids=[cancelled])
    pipeline.send("POST", f"/v1/jobs/{cancelled}/cancel")
    put(pipeline, body_of(cancelled))
    put(pipeline, "not ours")
    put(pipeline, body_of("job_unknown"))
    balance = pipeline.ledger.balance("acme")
    spend(pipeline, balance.available)

    answer = replayed(pipeline)
    told = {i["job_id"]: (i["result"], i["reason"]) for i in answer["items"]}
    assert told == {
        spent: ("refused", "it was re-opened 5 times before"),
        cancelled: ("skipped", "a job that is cancelled is not run again"),
        poor: ("refused", "the partner's credits do not reach"),
        "job_unknown": ("skipped", "there is no such job"),
        None: ("skipped", "the body is not ours; it can be discarded by its message id"),
    }
    assert answer["done"] == 0
    assert len(pipeline.bodies(pipeline.dlq_url(MODEL))) == 5
    assert loaded(pipeline, poor).status is Status.DEAD_LETTERED


def run_down(pipeline: Pipeline, job_id: str) -> None:
    """Replay a job, and let it fail for good."""
    replayed(pipeline, job_ids=[job_id])
    pipeline.vendor.script = [VendorRefused("400", vendor_status=400)]
    work(pipeline)
    assert loaded(pipeline, job_id).status is Status.FAILED


def spend(pipeline: Pipeline, amount: int) -> None:
    """Take a partner's credits away, past the ledger."""
    pipeline.dynamodb.update_item(
        TableName="ledger",
        Key={"pk": {"S": "balance#acme"}, "sk": {"S": "balance"}},
        UpdateExpression="ADD available :amount",
        ExpressionAttributeValues={":amount": {"N": str(-amount)}},
    )


def test_discarding_takes_what_has_ended_and_what_is_nobodys(pipeline: Pipeline) -> None:
    ended, waiting = dead_letters(pipeline, 2)
    replayed(pipeline, job_ids=[waiting])
    put(pipeline, body_of(waiting))
    put(pipeline, body_of("job_unknown"))
    foreign = put(pipeline, '{"alien": true}')

    answer = run(pipeline, {"action": "discard", "dry_run": False})
    told = {item["job_id"]: item["result"] for item in answer["items"]}
    assert told == {
        ended: "discarded", "job_unknown": "discarded", waiting: "skipped", None: "skipped",
    }  # fmt: skip
    assert loaded(pipeline, ended).status is Status.DEAD_LETTERED
    assert results(run(pipeline, {"action": "discard", "message_ids": [foreign]})) == ["discarded"]
    assert bodies(pipeline) == [body_of(waiting)]
