"""Working over real doors: poison, takeovers, Redis away, workers that die."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.jobs import drain, loaded
from tests.contract.test_accept import BODY, finished
from tests.pipeline import Pipeline
from tidegate.doors.envelope import Cached
from tidegate.doors.jobs import Jobs
from tidegate.doors.pace import Caller
from tidegate.doors.staged import Staged
from tidegate.errors import (
    LostFence,
    VendorFailed,
)
from tidegate.rules.job import Status


def test_poison_reaches_the_dlq_and_disturbs_nothing(pipeline: Pipeline) -> None:
    url = pipeline.queue_url("chat-mini")
    poison = ["not json", "[" * 100_000, '{"v": 9}', '{"v": 1, "job_id": 5}', "null"]
    for body in poison:
        pipeline.sqs.send_message(QueueUrl=url, MessageBody=body)
    job_id = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")

    assert pipeline.get(f"/v1/jobs/{job_id}").json["status"] == "completed"
    assert sorted(pipeline.bodies(pipeline.dlq_url("chat-mini"))) == sorted(poison)


def test_a_message_in_another_models_queue_is_not_worked_on(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    pipeline.sqs.purge_queue(QueueUrl=pipeline.queue_url("chat-mini"))
    queue = pipeline.api.doors.waiting_room.queue
    queue.send(pipeline.queue_url("code-command"), job_id, "acme")
    drain(pipeline, "code-command")
    assert pipeline.vendor.calls == []
    assert loaded(pipeline, job_id).status is Status.QUEUED
    assert len(pipeline.bodies(pipeline.dlq_url("code-command"))) == 1


def test_a_message_of_an_absent_or_finished_job_is_acknowledged(pipeline: Pipeline) -> None:
    job_id = finished(pipeline)
    queue = pipeline.api.doors.waiting_room.queue
    for other in (job_id, "job_unknown"):
        queue.send(pipeline.queue_url("chat-mini"), other, "acme")
    drain(pipeline, "chat-mini")
    assert len(pipeline.vendor.calls) == 1
    assert pipeline.bodies(pipeline.dlq_url("chat-mini")) == []


def test_a_staged_answer_is_not_paid_for_again(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    job = loaded(pipeline, job_id)
    staged = Staged(job_id, "staged", (), False, 1, 2, 30, "req_0", pipeline.clock.now())
    pipeline.worker("chat-mini").cache.stage(job.job_key, staged, 60)

    pipeline.deliver("chat-mini")
    assert pipeline.get(f"/v1/jobs/{job_id}/result").json == {"text": "staged"}
    assert pipeline.vendor.calls == []


def test_a_lease_held_by_another_defers_without_burning_a_receive(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    job_key = loaded(pipeline, job_id).job_key
    lease = pipeline.worker("chat-mini").lease
    assert lease.take(job_key, "somebody", 60) == 0

    pipeline.deliver("chat-mini")
    assert pipeline.vendor.calls == []
    attributes = pipeline.sqs.get_queue_attributes(
        QueueUrl=pipeline.queue_url("chat-mini"), AttributeNames=["All"]
    )["Attributes"]
    assert attributes["ApproximateNumberOfMessagesDelayed"] == "1"
    assert attributes["ApproximateNumberOfMessagesNotVisible"] == "0"


def test_without_redis_nobody_calls_the_vendor_and_nothing_is_lost(
    without_redis: Pipeline,
) -> None:
    job_id = without_redis.post(BODY).json["id"]
    without_redis.deliver("chat-mini")
    assert without_redis.vendor.calls == []
    assert loaded(without_redis, job_id).status is Status.QUEUED
    attributes = without_redis.sqs.get_queue_attributes(
        QueueUrl=without_redis.queue_url("chat-mini"), AttributeNames=["All"]
    )["Attributes"]
    assert attributes["ApproximateNumberOfMessagesDelayed"] == "1"


def test_a_full_pace_defers(pipeline: Pipeline) -> None:
    pace = pipeline.worker("chat-mini").pacing.pace
    pace.switch(off=False, until=None, turned=False)
    for n in range(pipeline.models.models["chat-mini"].in_flight):
        assert pace.take(Caller(f"other-{n}", f"other-{n}", "umbrella", "normal", 0), 60, 0).granted
    pipeline.post(BODY)
    pipeline.deliver("chat-mini")
    assert pipeline.vendor.calls == []


def test_places_come_back_after_the_call_whatever_became_of_it(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [VendorFailed("500")]
    finished(pipeline)
    drain(pipeline, "chat-mini")
    pace = pipeline.worker("chat-mini").pacing.pace
    pace.switch(off=False, until=None, turned=False)
    for n in range(pipeline.models.models["chat-mini"].in_flight):
        assert pace.take(Caller(f"other-{n}", f"other-{n}", "umbrella", "normal", 0), 60, 0).granted


def test_a_slow_worker_whose_job_was_taken_over_changes_nothing(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    doors = pipeline.worker("chat-mini")
    now = pipeline.clock.now()
    slow = doors.attempts.claim(
        loaded(pipeline, job_id), "slow", now=now, until=now + 5, start=True
    )
    pipeline.clock.time += 6
    pipeline.deliver("chat-mini")  # its successor completes the job
    before = pipeline.items()

    staged = Staged(job_id, "too late", (), False, 1, 2, 30, None, pipeline.clock.now())
    with pytest.raises(LostFence):
        doors.finish.judged(slow, staged, pipeline.models.models["chat-mini"])
    assert pipeline.items() == before
    assert pipeline.post(BODY, "another").json["output"] == {"text": "42"}


def test_two_workers_cannot_claim_one_job(pipeline: Pipeline) -> None:
    job = loaded(pipeline, pipeline.post(BODY).json["id"])
    attempts = pipeline.worker("chat-mini").attempts
    now = pipeline.clock.now()
    first = attempts.claim(job, "first", now=now, until=now + 5, start=True)
    assert (first.attempt, first.starts) == (1, 1)
    with pytest.raises(LostFence):
        attempts.claim(job, "second", now=now, until=now + 5, start=True)
    assert attempts.claim(job, "first", now=now, until=now + 5, start=True) == first  # its own


def test_a_job_whose_workers_die_every_time_ends_when_its_starts_are_spent(
    pipeline: Pipeline,
) -> None:
    job_id = pipeline.post(BODY).json["id"]
    attempts = pipeline.worker("chat-mini").attempts
    for n in range(pipeline.models.models["chat-mini"].retry.starts):
        now = pipeline.clock.now()
        attempts.claim(loaded(pipeline, job_id), f"dies-{n}", now=now, until=now + 5, start=True)
        pipeline.clock.time += 6
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, job_id).status is Status.DEAD_LETTERED
    assert pipeline.vendor.calls == []


def test_an_answer_made_meanwhile_is_used_instead_of_a_call(pipeline: Pipeline) -> None:
    other = finished(pipeline, {**BODY, "params": {"seed": 9}}, "other")
    job_id = pipeline.post(BODY).json["id"]
    now = pipeline.clock.now()
    cached = Cached(other, {"text": "42"}, now, now + 60, now + 60)
    pipeline.worker("chat-mini").cache.promote(loaded(pipeline, job_id).job_key, cached, now)
    pipeline.vendor.calls.clear()

    pipeline.deliver("chat-mini")
    done = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (done["status"], done["source"], done["output"]) == ("completed", "cache", cached.output)
    assert pipeline.vendor.calls == []


def test_a_worker_with_too_little_time_left_does_not_call(pipeline: Pipeline) -> None:
    pipeline.post(BODY)
    pipeline.deliver("chat-mini", remaining=4.0)
    assert pipeline.vendor.calls == []
    assert len(pipeline.bodies(pipeline.queue_url("chat-mini"))) == 1


def test_the_request_is_read_once_for_an_attempt(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = Jobs.input

    def counted(jobs: Jobs, job_id: str) -> dict[str, Any]:
        read.append(job_id)
        return original(jobs, job_id)

    monkeypatch.setattr(Jobs, "input", counted)
    job_id = finished(pipeline)
    assert read == [job_id]


@pytest.mark.parametrize("ends", ["starts spent", "deadline passed"])
def test_a_job_that_a_living_worker_holds_is_left_to_it(pipeline: Pipeline, ends: str) -> None:
    """Redis forgot the lease, and a doubled message comes: nobody may end the job meanwhile."""
    job_id = pipeline.post({**BODY, "deadline_seconds": 60}).json["id"]
    attempts = pipeline.worker("chat-mini").attempts
    for n in range(
        pipeline.models.models["chat-mini"].retry.starts if ends == "starts spent" else 1
    ):
        pipeline.clock.time += 6
        now = pipeline.clock.now()
        job = loaded(pipeline, job_id)
        held = attempts.claim(job, f"worker-{n}", now=now, until=now + 5, start=True)
    if ends == "deadline passed":
        pipeline.clock.time = held.deadline_at + 1
        held = attempts.claim(
            held, "late", now=pipeline.clock.now(), until=pipeline.clock.now() + 5, start=True
        )
    pipeline.deliver("chat-mini")

    assert loaded(pipeline, job_id) == held
    assert pipeline.vendor.calls == []
    # The double waits for the holder's end; should the holder die, the sweeper brings the job back.
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []
    pipeline.clock.time = held.owner_until + 6
    pipeline.sweep()
    assert loaded(pipeline, job_id).done
