"""Repeats of a request whose job waits: another message where the first may be lost, and rarely.

Messages are counted where they are: in SQS.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from cli.local import redis
from tests.contract import books, virtual
from tests.contract.jobs import drain, job
from tests.contract.test_accept import BODY
from tests.contract.test_sweep import posted_and_died
from tests.pipeline import Pipeline
from tidegate.rules.job import RESEND, Status

REPEATS = 300


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: it has no part in this."""
    redis.flush(redis_single)
    return redis_single


def sent(pipeline: Pipeline) -> int:
    """Return how many messages are in the model's queue, whether delayed or not."""
    return len(virtual.queue("chat-mini")._messages)


def repeat(pipeline: Pipeline, key: str = "key-1") -> None:
    answer = pipeline.post(BODY, key)
    assert (answer.status, answer.headers["Idempotent-Replayed"]) == (202, "true")


def test_300_repeats_of_a_job_that_waits_send_one_message_more(pipeline: Pipeline) -> None:
    pipeline.post(BODY)
    for _ in range(REPEATS):
        repeat(pipeline)
        pipeline.clock.time += 0.05
    assert sent(pipeline) == 2


def test_repeats_that_come_at_once_send_one_message_more(pipeline: Pipeline) -> None:
    pipeline.post(BODY)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: repeat(pipeline), range(40)))
    assert sent(pipeline) == 2


def test_requests_that_joined_a_job_share_its_message(pipeline: Pipeline) -> None:
    keys = [f"key-{n}" for n in range(1, 9)]
    for key in keys:
        pipeline.post(BODY, key)
    for key in keys * 3:
        repeat(pipeline, key)
    assert sent(pipeline) == 2


def test_the_repeat_after_a_crash_before_the_send_sends_at_once(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted_and_died(pipeline, monkeypatch)
    assert sent(pipeline) == 0

    repeat(pipeline)
    assert sent(pipeline) == 1
    drain(pipeline, "chat-mini")
    assert [job.status for job in books.jobs(pipeline)] == [Status.COMPLETED]


def test_a_repeat_sends_again_when_the_last_message_must_have_been_seen(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted_and_died(pipeline, monkeypatch)
    with monkeypatch.context() as patch:  # and the first repeat dies as well, before its send
        patch.setattr(pipeline.api.doors.waiting_room.queue, "send", _crash)
        with pytest.raises(_Crashed):
            pipeline.post(BODY)

    pipeline.clock.time += RESEND - 0.1
    repeat(pipeline)
    assert sent(pipeline) == 0
    pipeline.clock.time += 0.2
    repeat(pipeline)
    repeat(pipeline)
    assert sent(pipeline) == 1


def test_a_client_that_insists_for_an_hour_sends_ever_less_often(pipeline: Pipeline) -> None:
    """One that asks every fifteen seconds, while the model is paused."""
    pipeline.post(BODY)
    times = []
    for second in range(0, 3600, 15):
        before = sent(pipeline)
        repeat(pipeline)
        times += [second] * (sent(pipeline) - before)
        pipeline.clock.time += 15
    assert times == [0, 30, 60, 120, 240, 480, 960, 1920]


def test_a_repeat_after_the_sweeper_has_sent_sends_none(pipeline: Pipeline) -> None:
    pipeline.post(BODY)
    pipeline.clock.time += 60
    assert pipeline.sweep() == {"sent": 1}

    repeat(pipeline)
    assert sent(pipeline) == 2


def test_the_note_of_a_repeat_fences_out_no_worker(pipeline: Pipeline) -> None:
    first = pipeline.post(BODY).json
    repeat(pipeline)
    assert pipeline.get(f"/v1/jobs/{first['id']}").json == first
    drain(pipeline, "chat-mini")
    (done,) = books.jobs(pipeline)
    assert (done.status, done.attempt) == (Status.COMPLETED, 1)
    assert len(pipeline.vendor.calls) == 1


def test_a_note_whose_reply_is_lost_knows_itself(pipeline: Pipeline) -> None:
    """The SDK sends it again, and it fails its own condition."""
    pipeline.post(BODY)
    (waiting,), jobs = books.jobs(pipeline), pipeline.api.doors.jobs
    assert jobs.resend(waiting, "one", pipeline.clock.now())
    assert jobs.resend(waiting, "one", pipeline.clock.now())
    assert not jobs.resend(waiting, "other", pipeline.clock.now())


def test_a_job_that_was_opened_again_begins_anew() -> None:
    asked_again = replace(job("acme", at=100.0), resent_at=100.5)
    assert not asked_again.may_resend(110.0)
    assert replace(asked_again, enqueued_at=105.0).may_resend(110.0)


class _Crashed(BaseException):
    pass


def _crash(*_: object, **__: object) -> None:
    raise _Crashed
