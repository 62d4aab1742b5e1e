"""A replay that is killed at any step, or meets somebody, and is started again."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli.local import redis
from tests.contract.jobs import loaded
from tests.contract.replaying import (
    MODEL,
    Killed,
    Knife,
    bodies,
    come_back,
    dead_letters,
    differences,
    doors,
    replayed,
    results,
    run,
    work,
)
from tests.pipeline import Pipeline
from tidegate.errors import LostFence
from tidegate.rules.job import Status

REPLAY = {"action": "replay", "dry_run": False, "rate_per_second": 100}


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: dead letters are the same over either kind."""
    redis.flush(redis_single)
    return redis_single


FIRST_SEND = 5
"""Which call it is; before it the worker has nothing to do."""


def calls_of_a_replay(jobs: int) -> int:
    """Return the calls of doors: look, receive twice; load, re-open, send and delete each job."""
    return 3 + 4 * jobs


def test_these_are_all_the_calls_of_a_replay(pipeline: Pipeline) -> None:
    dead_letters(pipeline, 2)
    knife = Knife()
    run(pipeline, REPLAY, knife=knife)
    assert knife.calls == calls_of_a_replay(2)


KILLS = [
    pytest.param(number, after, works_on, id=f"{number}{' done' * after}{' worked on' * works_on}")
    for number in range(1, calls_of_a_replay(2) + 1)
    for after in (False, True)
    for works_on in (False, True)
    if number >= FIRST_SEND or not works_on
]


@pytest.mark.parametrize(("number", "after", "works_on"), KILLS)
def test_killed_at_any_call_and_started_again_each_job_is_run_and_charged_once(
    pipeline: Pipeline, number: int, after: bool, works_on: bool
) -> None:
    jobs = dead_letters(pipeline, 2)
    with pytest.raises(Killed):
        run(pipeline, REPLAY, knife=Knife(number, after))
    if works_on:
        work(pipeline)
    come_back(pipeline.dlq_url(MODEL))

    answer = run(pipeline, REPLAY)
    assert set(results(answer)) <= {"replayed", "sent_again", "deleted"}
    assert bodies(pipeline) == []
    work(pipeline)
    for job_id in jobs:
        job = loaded(pipeline, job_id)
        assert (job.status, job.replay_count) == (Status.COMPLETED, 1)
    assert len(pipeline.vendor.calls) == 2
    assert [e.kind for e in pipeline.ledger.entries("acme") if e.captured] == ["capture"] * 2
    assert pipeline.ledger.balance("acme").reserved == 0
    assert differences(pipeline) == []


def test_many_jobs_killed_half_way_and_started_again(pipeline: Pipeline) -> None:
    jobs = dead_letters(pipeline, 12)
    with pytest.raises(Killed):
        run(pipeline, REPLAY, knife=Knife(calls_of_a_replay(12) // 2))
    come_back(pipeline.dlq_url(MODEL))

    run(pipeline, REPLAY)
    assert bodies(pipeline) == []
    work(pipeline)
    assert {loaded(pipeline, job_id).status for job_id in jobs} == {Status.COMPLETED}
    assert len(pipeline.vendor.calls) == 12
    assert len([e for e in pipeline.ledger.entries("acme") if e.captured]) == 12
    assert differences(pipeline) == []


def test_a_job_that_somebody_else_moves_just_then_is_looked_at_again(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job_id,) = dead_letters(pipeline, 1)
    built = doors(pipeline).replay
    reopen = type(built.endings).reopen
    tries = []

    def beaten(*args: Any, **named: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:  # a redrive by hand comes first
            reopen(*args, **named)
            raise LostFence("the job has moved on")
        return reopen(*args, **named)

    monkeypatch.setattr(type(built.endings), "reopen", beaten)
    assert results(replayed(pipeline)) == ["sent_again"]
    assert (loaded(pipeline, job_id).replay_count, bodies(pipeline)) == (1, [])


@pytest.mark.parametrize("operation", ["GetItem", "TransactWriteItems", "SendMessage"])
def test_trouble_with_one_is_told_and_the_others_go_on(pipeline: Pipeline, operation: str) -> None:
    dead_letters(pipeline, 2)
    failing = Failing(operation)
    answer = run(pipeline, REPLAY, knife=failing)
    assert results(answer) == ["failed", "replayed"]
    assert [i["reason"] for i in answer["items"] if i["result"] == "failed"] == ["ClientError"]
    assert len(pipeline.bodies(pipeline.dlq_url(MODEL))) == 1

    run(pipeline, REPLAY)
    work(pipeline)
    assert (bodies(pipeline), len(pipeline.vendor.calls)) == ([], 2)
    assert differences(pipeline) == []


class Failing(Knife):
    """Answers the first call of an operation with an error."""

    def __init__(self, operation: str) -> None:
        super().__init__()
        self.operation = operation
        self.failed = False

    def __call__(self, event_name: str, request: Any, **_: Any) -> None:
        super().__call__(event_name, request)
        if event_name.endswith(self.operation) and not self.failed:
            self.failed = True
            raise ClientError({"Error": {"Code": "AccessDenied"}}, self.operation)
