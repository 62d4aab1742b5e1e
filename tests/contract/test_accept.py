"""Accepting over real doors: one job per key, one run per work, the answer at once."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.pipeline import PUBLIC_URL, Pipeline

BODY: dict[str, Any] = {
    "model": "chat-mini",
    "input": {"messages": [{"role": "user", "content": "What is the answer?"}]},
}
OTHER = {**BODY, "params": {"max_tokens": 7}}


def finished(pipeline: Pipeline, body: dict[str, Any] = BODY, key: str = "key-1") -> str:
    job_id: str = pipeline.post(body, key).json["id"]
    assert pipeline.deliver(body["model"]) == 1
    return job_id


def test_a_new_request_is_202_with_the_job_and_where_to_find_it(pipeline: Pipeline) -> None:
    answer = pipeline.post(BODY)

    assert answer.status == 202
    job = answer.json
    assert (job["status"], job["done"], job["output"]) == ("queued", False, None)
    assert answer.headers["Location"] == f"{PUBLIC_URL}/v1/jobs/{job['id']}"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert answer.headers["X-Request-Id"] == "req-test"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert len(pipeline.bodies(pipeline.queue_url("chat-mini"))) == 1
    again = pipeline.get(f"/v1/jobs/{job['id']}")
    assert (again.status, again.json) == (200, job)


def test_the_message_carries_the_id_and_nothing_of_the_request(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]

    (body,) = pipeline.bodies(pipeline.queue_url("chat-mini"))
    assert body == f'{{"v": 1, "job_id": "{job_id}"}}'


def test_the_same_key_is_the_same_job_as_it_is_now(pipeline: Pipeline) -> None:
    first = pipeline.post(BODY).json["id"]

    replay = pipeline.post(BODY)
    assert (replay.status, replay.json["id"]) == (202, first)
    assert replay.headers["Idempotent-Replayed"] == "true"
    assert "X-Cache-Lookup" not in replay.headers

    while pipeline.deliver("chat-mini"):
        pass
    done = pipeline.post(BODY)
    assert (done.status, done.json["id"], done.json["status"]) == (200, first, "completed")
    assert done.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert done.json["output"] == {"text": "42"}
    assert len(pipeline.vendor.calls) == 1


def test_members_in_another_order_are_the_same_request(pipeline: Pipeline) -> None:
    first = pipeline.post({**BODY, "params": {"seed": 1, "max_tokens": 9}})
    second = pipeline.post({"params": {"max_tokens": 9, "seed": 1}, **BODY})
    assert (second.status, second.json["id"]) == (202, first.json["id"])


def test_the_same_key_with_an_altered_body_is_refused_in_every_state(pipeline: Pipeline) -> None:
    finished(pipeline)
    for _ in range(2):
        refused = pipeline.post(OTHER)
        assert (refused.status, refused.json["code"]) == (422, "idempotency_key_reused")
        assert "altered payload parameters" in refused.json["detail"]
    assert len(pipeline.vendor.calls) == 1
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []


def test_a_key_belongs_to_its_partner(pipeline: Pipeline) -> None:
    first = pipeline.post(BODY, "shared-key", partner="acme")
    second = pipeline.post(OTHER, "shared-key", partner="umbrella")
    assert (first.status, second.status) == (202, 202)
    assert first.json["id"] != second.json["id"]


def test_fifty_posts_at_once_with_one_key_are_one_job(pipeline: Pipeline) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: pipeline.post(BODY), range(50)))

    assert {answer.status for answer in answers} == {202}
    assert len({answer.json["id"] for answer in answers}) == 1
    stored = [i for i in pipeline.items() if i["sk"]["S"] == "status"]
    assert len(stored) == 1


def test_fifty_posts_at_once_with_fifty_keys_run_once(pipeline: Pipeline) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: pipeline.post(BODY, f"key-{n}"), range(50)))

    assert {answer.status for answer in answers} == {202}
    assert len({answer.json["id"] for answer in answers}) == 1
    while pipeline.deliver("chat-mini"):
        pass
    assert len(pipeline.vendor.calls) == 1
    for n in range(50):
        assert pipeline.post(BODY, f"key-{n}").json["output"] == {"text": "42"}


def test_a_finished_answer_is_served_at_once_and_says_that_it_is_cached(
    pipeline: Pipeline,
) -> None:
    first = finished(pipeline)
    pipeline.clock.time += 90

    hit = pipeline.post(BODY, "another-key")
    assert (hit.status, hit.json["status"], hit.json["source"]) == (200, "completed", "cache")
    assert hit.json["cache"] == {"status": "hit", "age_seconds": 90, "stale": False}
    assert re.fullmatch(r"tidegate; hit; ttl=[1-9]\d*", hit.headers["Cache-Status"])
    assert hit.json["id"] != first
    assert pipeline.get(f"/v1/jobs/{hit.json['id']}/result").json == {"text": "42"}
    assert len(pipeline.vendor.calls) == 1
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []


def test_an_answer_past_its_hard_life_is_a_miss(pipeline: Pipeline) -> None:
    finished(pipeline)
    pipeline.clock.time += pipeline.models.models["chat-mini"].cache.hard_ttl + 1
    assert pipeline.post(BODY, "another-key").status == 202


def test_another_partner_does_not_read_the_answer(pipeline: Pipeline) -> None:
    finished(pipeline)
    assert pipeline.post(BODY, "key-1", partner="umbrella").status == 202


def test_a_chance_answer_is_not_reused_but_retries_join(pipeline: Pipeline) -> None:
    body = {**BODY, "model": "chat-claude"}  # temperature 1, no seed: not deterministic
    first = finished(pipeline, body)
    assert pipeline.post(body, "another-key").status == 202
    assert pipeline.post(body, "key-1").json["id"] == first


def test_a_damaged_cache_entry_is_a_miss_and_gone(pipeline: Pipeline) -> None:
    job_id = finished(pipeline)
    job_key = pipeline.api.doors.jobs.load(job_id).job_key  # type: ignore[union-attr]
    key = f"tg:{{{job_key}}}:result"
    pipeline.valkey.set(key, '{"format": 1, "sha256": "0", "body": "{}"}', 60)

    hit = pipeline.post(BODY, "another-key")  # from DynamoDB, where it is whole
    assert (hit.status, hit.json["output"]) == (200, {"text": "42"})
    assert "42" in (pipeline.valkey.get(key) or "")


def test_without_redis_answers_are_served_and_duplicates_are_joined(
    without_redis: Pipeline,
) -> None:
    first = without_redis.post(BODY, "a")
    second = without_redis.post(BODY, "b")
    assert (first.status, second.json["id"]) == (202, first.json["id"])


def test_with_redis_emptied_a_paid_answer_is_served_from_dynamodb(pipeline: Pipeline) -> None:
    job_id = finished(pipeline)
    job_key = pipeline.api.doors.jobs.load(job_id).job_key  # type: ignore[union-attr]
    pipeline.valkey.delete(f"tg:{{{job_key}}}:result")

    hit = pipeline.post(BODY, "another-key")
    assert (hit.status, hit.json["source"]) == (200, "cache")
    assert len(pipeline.vendor.calls) == 1


def test_an_answer_that_was_not_promoted_is_served_all_the_same(pipeline: Pipeline) -> None:
    """The worker died after its commit: the pending mark still names the finished job."""
    job_id = finished(pipeline)
    job_key = pipeline.api.doors.jobs.load(job_id).job_key  # type: ignore[union-attr]
    pipeline.valkey.delete(f"tg:{{{job_key}}}:result")
    pipeline.api.doors.cache.mark_pending(job_key, job_id, 60)

    assert pipeline.post(BODY, "another-key").status == 200
    assert len(pipeline.vendor.calls) == 1


def test_a_replay_sends_the_message_again_while_the_job_has_not_started(
    pipeline: Pipeline,
) -> None:
    pipeline.post(BODY)
    pipeline.sqs.purge_queue(QueueUrl=pipeline.queue_url("chat-mini"))  # the crash before the send

    assert pipeline.post(BODY).status == 202
    assert pipeline.deliver("chat-mini") == 1
    assert pipeline.post(BODY).json["status"] == "completed"


def test_after_a_curable_end_the_same_key_starts_a_new_job(pipeline: Pipeline) -> None:
    first = pipeline.post({**BODY, "deadline_seconds": 10}).json["id"]
    pipeline.clock.time += 11
    pipeline.deliver("chat-mini")
    assert pipeline.get(f"/v1/jobs/{first}").json["status"] == "expired"

    second = pipeline.post({**BODY, "deadline_seconds": 10})
    assert (second.status, "Idempotent-Replayed" in second.headers) == (202, False)
    assert second.json["id"] != first
    assert pipeline.post({**BODY, "deadline_seconds": 10}).json["id"] == second.json["id"]


def test_after_a_curable_end_the_same_key_joins_what_runs_meanwhile(pipeline: Pipeline) -> None:
    body = {**BODY, "deadline_seconds": 10}
    pipeline.post(body, "a")
    pipeline.clock.time += 11
    pipeline.deliver("chat-mini")
    running = pipeline.post(body, "b").json["id"]

    assert pipeline.post(body, "a").json["id"] == running


def test_a_stuck_job_holds_its_work_no_longer_than_its_deadline(pipeline: Pipeline) -> None:
    stuck = pipeline.post({**BODY, "deadline_seconds": 10}, "a").json["id"]
    pipeline.sqs.purge_queue(QueueUrl=pipeline.queue_url("chat-mini"))
    pipeline.clock.time += 11

    fresh = pipeline.post(BODY, "b").json["id"]
    assert fresh != stuck
    pipeline.api.doors.waiting_room.queue.send(
        pipeline.queue_url("chat-mini"), stuck, "acme"
    )  # it turns up
    while pipeline.deliver("chat-mini"):
        pass
    assert pipeline.get(f"/v1/jobs/{fresh}").json["status"] == "completed"
    assert pipeline.get(f"/v1/jobs/{stuck}").json["status"] == "expired"
