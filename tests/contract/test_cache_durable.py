"""A paid answer outlives Redis: DynamoDB has it, as old as it is, and S3 what is large."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import shake_256

import pytest

from tests.contract.caching import (
    CHAT,
    HARD,
    SOFT,
    Deploy,
    beside,
    chat,
    durable,
    entry_key,
    forget,
    made,
    numbered,
    refreshes,
    results,
    with_cache,
    work,
)
from tests.fakes import answer
from tests.pipeline import Pipeline
from tidegate.doors.payloads import INLINE_LIMIT
from tidegate.doors.valkey import Valkey

CHANCE = b64encode(shake_256(b"").digest(400_000)).decode()
"""Half a megabyte that packs to three quarters of itself."""


@pytest.fixture
def kept(deploy: Deploy) -> Pipeline:
    """A deployment whose cache holds `answer 1`."""
    pipeline = deploy(models=with_cache())
    numbered(pipeline)
    return pipeline


def test_with_redis_emptied_it_is_served_with_its_age_and_put_back(kept: Pipeline) -> None:
    job_id = made(kept, chat())
    before = results(kept)
    kept.later(SOFT - 10)
    forget(kept)
    hit = kept.post(chat(), "a")
    assert (hit.status, hit.json["output"]) == (200, {"text": "answer 1"})
    assert hit.json["cache"] == {"status": "hit", "age_seconds": SOFT - 10, "stale": False}
    assert hit.headers["Cache-Status"] == "tidegate; hit; ttl=10"
    assert results(kept) == before
    life = kept.valkey._do(lambda client: client.pttl(entry_key(kept, job_id))) / 1000
    left = HARD - SOFT + 10
    assert left - 60 < life <= left
    kept.later(10)
    assert kept.post(chat(), "b").json["cache"]["stale"]
    assert len(kept.vendor.calls) == 1


def test_without_redis_it_is_served_every_time(kept: Pipeline, no_valkey: Valkey) -> None:
    made(kept, chat())
    dark = beside(kept, valkey=no_valkey)
    for n, age in enumerate((1, SOFT, HARD - 1)):
        kept.clock.time += age - kept.clock.now() % 100_000
        hit = dark.post(chat(), f"key-{n}-dark")
        assert (hit.status, hit.json["cache"]["age_seconds"]) == (200, age)
        assert hit.json["cache"]["stale"] == (age >= SOFT)
    kept.clock.time += 1
    assert dark.post(chat(), "late").status == 202


def test_one_that_a_refresh_made_is_the_one_that_is_kept(kept: Pipeline) -> None:
    made(kept, chat())
    kept.later(SOFT)
    kept.post(chat(), "stale")
    work(kept)
    (job,) = refreshes(kept)
    assert [item["job_id"] for item in durable(kept)] == [job.id]
    forget(kept)
    assert kept.post(chat(), "a").json["output"] == {"text": "answer 2"}


def test_past_its_hard_end_the_durable_one_is_a_miss_too(kept: Pipeline) -> None:
    made(kept, chat())
    forget(kept)
    kept.later(HARD)
    assert len(durable(kept)) == 1  # DynamoDB deletes late
    assert kept.post(chat(), "late").status == 202
    assert results(kept) == {}


def test_what_it_takes_a_caller_is_asked_of_the_durable_one_too(kept: Pipeline) -> None:
    made(kept, chat())
    kept.later(100)
    forget(kept)
    for said, status in (("max-age=99", 504), ("max-age=100", 200), ("no-cache", 504)):
        found = kept.post(chat(), said, Cache_Control=f"only-if-cached, {said}")
        assert (found.status, len(results(kept))) == (status, status == 200), said
        forget(kept)
    young = kept.post(chat(), "a", Cache_Control="max-age=99")
    assert (young.status, young.headers["Cache-Status"]) == (202, "tidegate; fwd=request")


def test_a_worker_that_finds_redis_empty_uses_it_instead_of_a_call(deploy: Deploy) -> None:
    pipeline = deploy(models=with_cache(scope="shared"))
    ids = {p: pipeline.post(chat(), "a", p).json["id"] for p in ("acme", "umbrella")}
    assert pipeline.deliver(CHAT, most=1) == 1
    forget(pipeline)
    work(pipeline)
    assert len(pipeline.vendor.calls) == 1
    seen = [pipeline.get(f"/v1/jobs/{job_id}", p).json for p, job_id in ids.items()]
    assert {job["source"] for job in seen} == {"vendor", "cache"}
    assert [job["output"] for job in seen] == [{"text": "42"}] * 2


TEXTS: dict[str, Callable[[], str]] = {
    "a megabyte": lambda: "word é " * 140_000,
    "half a megabyte of chance": lambda: CHANCE,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_large_answer_is_served_whole_from_redis_and_without_it(
    kept: Pipeline, name: str
) -> None:
    text = TEXTS[name]()
    kept.vendor.otherwise = lambda _call: answer(text)
    job_id = made(kept, chat())
    (held,) = results(kept).values()
    packs = name == "a megabyte"
    assert len(held.encode()) < (10_000 if packs else 1.02 * len(text))
    in_s3 = kept.s3.list_objects_v2(Bucket="assets", Prefix="outputs/").get("Contents", [])
    assert len(in_s3) == (not packs)
    if in_s3:
        assert INLINE_LIMIT < in_s3[0]["Size"] < len(text)
    hit = kept.post(chat(), "redis")
    assert hit.status == 200, hit.text[:500]
    assert hit.json["output"] == {"text": text}
    forget(kept)
    assert kept.post(chat(), "dynamodb").json["output"] == {"text": text}
    assert list(results(kept).values()) == [held]
    assert kept.get(f"/v1/jobs/{job_id}/result").json == {"text": text}
    assert len(kept.vendor.calls) == 1


def test_an_answer_whose_output_is_gone_is_a_miss(kept: Pipeline) -> None:
    job_id = made(kept, chat())
    forget(kept)
    key = {"pk": {"S": f"job#{job_id}"}, "sk": {"S": "output"}}
    kept.dynamodb.delete_item(TableName="jobs", Key=key)
    assert kept.post(chat(), "a").status == 202
