"""What a caller's `Cache-Control` does: it asks for less than the operator allows, never more."""

from __future__ import annotations

import pytest

from tests.contract import books
from tests.contract.caching import (
    HARD,
    SOFT,
    Deploy,
    chat,
    durable,
    made,
    numbered,
    refreshes,
    results,
    spent,
    with_cache,
    work,
)
from tests.contract.structured import cache_status, items
from tests.pipeline import Answer, Pipeline
from tidegate.rules.pacing import PartnerLimits

DECADE = "max-age=315360000"
IMAGE = {"model": "image-studio", "prompt": "a cat", "seed": 1}


@pytest.fixture
def asked(deploy: Deploy) -> Pipeline:
    pipeline = deploy(models=with_cache())
    numbered(pipeline)
    return pipeline


def status(answer: Answer) -> dict[str, object]:
    """Return what `Cache-Status` says, read strictly."""
    found = cache_status(answer.headers["Cache-Status"])
    assert found.cache == "tidegate"
    return dict(found.said)


SERVED = {
    100: (
        "", "max-age=100", "max-age=4000", DECADE, 'max-age="100"', "MAX-AGE = 100", "min-fresh=0",
        f"min-fresh={SOFT - 100}", "max-stale", "max-stale=0", "max-stale=nonsense",
        f"max-age=100, min-fresh={SOFT - 100}, max-stale=0", "only-if-cached",
        "only-if-cached, max-age=100", "private, no-transform, x=1", ", ,,", "=", "max-age=100,",
    ),
    SOFT + 100: (
        "", "max-stale", "max-stale=100", "max-stale=99999999999", f"{DECADE}, max-stale",
        f"max-age={SOFT + 100}, max-stale=100", "only-if-cached", "stale-if-error=60",
    ),
}  # fmt: skip
"""By the age of an answer: what it will do for."""
REFUSED = {
    100: (
        "no-cache", 'no-cache="x"', "No-Cache", "no-store", "max-age=99", "max-age=0", "max-age",
        "max-age=", "max-age=-1", "max-age=1e9", "max-age=1.5", "max-age=nonsense", "max-age=²",
        f"min-fresh={SOFT - 99}", "min-fresh", "min-fresh=soon", "max-age=99, max-age=500",
        "max-age=500, max-age=99", f"max-age=500, min-fresh={SOFT}", "max-stale, no-cache",
        f"min-fresh={'9' * 30}",
    ),
    SOFT + 100: (
        "max-age=4000", DECADE, "max-stale=99", "max-stale=0", "max-stale=nonsense", "min-fresh=1",
        f"max-stale=100, max-age={SOFT}", "max-stale=99, max-stale", "no-store", "no-cache",
    ),
}  # fmt: skip
"""And what it will not do for."""


@pytest.mark.parametrize("age", SERVED)
def test_an_answer_that_will_do_is_served(
    asked: Pipeline, age: int, subtests: pytest.Subtests
) -> None:
    made(asked, chat())
    asked.later(age)
    for n, said in enumerate(SERVED[age]):
        with subtests.test(said):
            hit = asked.post(chat(), f"asked-{n}", Cache_Control=said)
            assert (hit.status, hit.json["cache"]["status"]) == (200, "hit"), hit.text
            assert hit.json["cache"]["stale"] == (age > SOFT)
            assert status(hit) == {"hit": True, "ttl": SOFT - age}
    assert len(refreshes(asked)) == (age > SOFT)


@pytest.mark.parametrize("age", REFUSED)
def test_one_that_will_not_is_passed_by_and_a_new_one_is_made(
    asked: Pipeline, age: int, subtests: pytest.Subtests
) -> None:
    made(asked, chat())
    for n, said in enumerate(REFUSED[age]):
        with subtests.test(said):
            asked.later(age)
            calls = len(asked.vendor.calls)
            made_anew = asked.post(chat(), f"asked-{n}", Cache_Control=said)
            assert (made_anew.status, made_anew.json["cache"]["status"]) == (202, "bypass")
            whole = {"no-store", "no-cache"} & {said.lower().partition("=")[0].split(", ")[-1]}
            why = "stale" if age > SOFT and not whole else "request"
            assert status(made_anew) == {"fwd": why}
            work(asked)
            assert len(asked.vendor.calls) == calls + 1
            read = asked.get(f"/v1/jobs/{made_anew.json['id']}")
            assert read.json["output"] == {"text": f"answer {calls + 1}"}
            stored = {} if said == "no-store" else {"stored": True}
            assert status(read) == {"fwd": why, **stored}
    assert refreshes(asked) == []


@pytest.mark.parametrize("said", [DECADE, f"{DECADE}, max-stale={10**9}", "max-stale"])
def test_no_caller_gets_what_is_past_its_hard_end(asked: Pipeline, said: str) -> None:
    made(asked, chat())
    asked.later(HARD)
    late = asked.post(chat(), "b", Cache_Control=said)
    assert (late.status, late.json["cache"]["status"]) == (202, "miss")
    assert status(late) == {"fwd": "miss"}
    only = asked.post(chat(), "c", Cache_Control=f"{said}, only-if-cached")
    assert only.status == 504


def test_what_was_made_past_the_cache_serves_the_next(asked: Pipeline) -> None:
    made(asked, chat())
    asked.later(100)
    asked.post(chat(), "b", Cache_Control="no-cache")
    work(asked)
    assert asked.post(chat(), "c").json["output"] == {"text": "answer 2"}


def test_no_store_leaves_nothing_and_joins_nobody(asked: Pipeline) -> None:
    running = asked.post(chat(), "running").json["id"]
    private = asked.post(chat(), "private", Cache_Control="no-store").json["id"]
    other = asked.post(chat(), "other", Cache_Control="no-store").json["id"]
    assert len({running, private, other}) == 3
    assert asked.post(chat(), "private", Cache_Control="no-store").json["id"] == private
    work(asked)
    assert len(asked.vendor.calls) == 3
    assert len(results(asked)) == len(durable(asked)) == 1
    told = asked.post(chat(), "private", Cache_Control="no-store")
    assert (told.status, told.headers["Idempotent-Replayed"]) == (200, "true")
    assert asked.post(chat(), "again", Cache_Control="no-store").status == 202
    assert asked.post(chat(), "hit").json["output"] == asked.get(f"/v1/jobs/{running}/result").json


def test_no_cache_joins_what_is_at_work(asked: Pipeline) -> None:
    running = asked.post(chat(), "a").json["id"]
    joined = asked.post(chat(), "b", Cache_Control="no-cache")
    assert (joined.status, joined.json["id"]) == (202, running)
    assert status(joined) == {"fwd": "miss", "collapsed": True}


def test_only_if_cached_is_504_without_an_answer_and_stores_nothing(asked: Pipeline) -> None:
    for said in ("only-if-cached", "only-if-cached, no-cache", "Only-If-Cached, max-age=5"):
        refused = asked.post(chat(), "a", Cache_Control=said)
        assert (refused.status, refused.json["code"]) == (504, "cache_miss_only_if_cached")
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert (refused.json["retryable"], refused.headers["x-should-retry"]) == (False, "false")
        assert "Retry-After" not in refused.headers
    assert asked.items() == []
    accepted = asked.post(chat("another"), "a")  # the key was never taken
    assert (accepted.status, "Idempotent-Replayed" in accepted.headers) == (202, False)
    assert len(asked.vendor.calls) == 0


def test_only_if_cached_repeats_what_its_key_was_used_for(asked: Pipeline) -> None:
    job_id = asked.post(chat(), "a").json["id"]
    again = asked.post(chat(), "a", Cache_Control="only-if-cached")
    assert (again.status, again.json["id"]) == (202, job_id)
    altered = asked.post(chat("another"), "a", Cache_Control="only-if-cached")
    assert (altered.status, altered.json["code"]) == (422, "idempotency_key_reused")


def test_past_the_cache_has_a_quota_of_its_own_and_nothing_else_is_touched(deploy: Deploy) -> None:
    partners = PartnerLimits(requests_per_minute=6000, bypasses_per_minute=2)
    pipeline = deploy(models=with_cache().model_copy(update={"partners": partners}))
    numbered(pipeline)
    made(pipeline, chat())
    for n, said in enumerate(("no-cache", "max-age=0")):
        pipeline.later(1)
        pipeline.post(chat(), f"past-{n}", Cache_Control=said)
        work(pipeline)
    pipeline.later(1)
    before, money = pipeline.items(), books.check(pipeline)
    for said in ("no-cache", "no-store", "max-age=0", f"min-fresh={SOFT}"):
        refused = pipeline.post(chat(), "past", Cache_Control=said)
        assert (refused.status, refused.json["code"]) == (429, "cache_bypass_limited")
        assert 1 <= int(refused.headers["Retry-After"]) <= 30
        assert (refused.json["retryable"], refused.headers["x-should-retry"]) == (True, "true")
        left = dict(items(refused.headers["RateLimit"]))["requests"]["r"]
        assert isinstance(left, int)
        assert left > 5000  # of the posts
    assert (pipeline.items(), books.check(pipeline)) == (before, money)
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []

    assert pipeline.post(chat(), "past").status == 200  # the key was never taken
    assert pipeline.post(chat("new"), "new").status == 202
    assert pipeline.post(chat(), "theirs", "umbrella", Cache_Control="no-cache").status == 202
    pipeline.later(31)
    assert pipeline.post(chat(), "later", Cache_Control="no-cache").status == 202


def test_the_images_route_understands_the_same(deploy: Deploy) -> None:
    pipeline = deploy()

    def generate(key: str, said: str) -> Answer:
        headers: dict[str, str | list[str]] = {
            "Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=0",
            "cache-control": ["no-transform", said],
        }  # fmt: skip
        return pipeline.send("POST", "/v1/images/generations", body=IMAGE, headers=headers)

    refused = generate("a", "only-if-cached")
    assert (refused.status, refused.json["code"]) == (504, "cache_miss_only_if_cached")
    assert refused.headers["x-should-retry"] == "false"
    first = generate("b", "max-age=5")
    assert (first.status, status(first)) == (202, {"fwd": "miss"})
    private = generate("c", "no-store")
    assert (private.json["id"] != first.json["id"], status(private)) == (True, {"fwd": "request"})
    assert spent(pipeline) == 0
