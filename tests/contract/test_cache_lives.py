"""An answer's two lives: fresh, then served stale and made anew by one job, then gone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import books
from tests.contract.caching import (
    CHAT,
    HARD,
    PRICE,
    SOFT,
    Deploy,
    chat,
    entry_key,
    made,
    refreshes,
    results,
    spent,
    with_cache,
    work,
)
from tests.fakes import FakeIds
from tests.pipeline import Answer, Pipeline
from tidegate.rules.job import Status


def text(hit: Answer) -> Any:
    assert (hit.status, hit.json["source"], hit.json["cache"]["status"]) == (200, "cache", "hit")
    return hit.json["output"]["text"]


def stale(pipeline: Pipeline, key: str) -> Answer:
    hit = pipeline.post(chat(), key)
    assert text(hit) == "answer 1"
    assert hit.json["cache"]["stale"]
    return hit


def test_until_its_soft_end_an_answer_is_fresh_and_nobody_is_asked(lives: Pipeline) -> None:
    made(lives, chat())
    lives.later(SOFT - 1)
    hit = lives.post(chat(), "b")
    assert text(hit) == "answer 1"
    assert hit.json["cache"] == {"status": "hit", "age_seconds": SOFT - 1, "stale": False}
    assert hit.headers["Cache-Status"] == "tidegate; hit; ttl=1"
    assert refreshes(lives) == []


def test_after_it_the_answer_is_served_stale_and_made_anew_by_one_job_of_nobody_elses(
    lives: Pipeline,
) -> None:
    made(lives, chat())
    first = spent(lives)
    lives.later(SOFT + 5)
    for n in range(3):
        hit = stale(lives, f"stale-{n}")
        assert hit.json["cache"]["age_seconds"] == SOFT + 5
        assert hit.headers["Cache-Status"] == "tidegate; hit; ttl=-5"
        assert hit.json["price"] == {"reserved_micro_credits": 0, "charged_micro_credits": PRICE}
    (job,) = refreshes(lives)
    assert (job.partner, job.priority, job.status) == ("_operator", "low", Status.QUEUED)
    assert lives.bodies(lives.queue_url(CHAT)) == []
    assert len(lives.bodies(lives.queue_url(f"{CHAT}-low"))) == 1

    work(lives)
    assert len(lives.vendor.calls) == 2
    lives.later(1)
    again = lives.post(chat(), "fresh")
    assert text(again) == "answer 2"
    assert again.json["cache"] == {"status": "hit", "age_seconds": 1, "stale": False}
    assert again.headers["Cache-Status"] == f"tidegate; hit; ttl={SOFT - 1}"
    assert spent(lives) == first + 4 * PRICE
    assert spent(lives, "_operator") == first  # what it cost, and never the partner
    assert len(refreshes(lives)) == 1
    books.check(lives)


def test_a_job_that_was_answered_stale_keeps_its_answer_and_its_mark(lives: Pipeline) -> None:
    made(lives, chat())
    lives.later(SOFT)
    job_id = stale(lives, "b").json["id"]
    work(lives)
    kept = lives.get(f"/v1/jobs/{job_id}")
    assert (kept.json["output"], kept.json["cache"]["stale"]) == ({"text": "answer 1"}, True)
    assert kept.headers["Cache-Status"] == "tidegate; hit"
    assert stale(lives, "b").headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"


def test_after_its_hard_end_it_is_a_miss_and_gone(lives: Pipeline) -> None:
    made(lives, chat())
    lives.later(HARD - 1)
    stale(lives, "b")
    lives.later(1)
    late = lives.post(chat(), "c")
    assert (late.status, late.json["cache"]["status"]) == (202, "miss")
    assert late.headers["Cache-Status"] == "tidegate; fwd=miss"
    assert results(lives) == {}


def test_an_answer_without_a_soft_end_is_fresh_to_its_hard_one(deploy: Deploy) -> None:
    pipeline = deploy(models=with_cache(soft_ttl=None))
    made(pipeline, chat())
    pipeline.later(HARD - 1)
    hit = pipeline.post(chat(), "b")
    assert (hit.status, hit.json["cache"]["stale"]) == (200, False)
    assert refreshes(pipeline) == []
    pipeline.later(1)
    assert pipeline.post(chat(), "c").status == 202


@pytest.mark.parametrize("fraction", [0.0, 0.5, 0.999])
def test_chance_shortens_both_lives_and_never_lengthens_one(
    deploy: Deploy, fraction: float
) -> None:
    pipeline = deploy(ids=FakeIds(fraction), models=with_cache(jitter=0.4))
    job_id = made(pipeline, chat())
    key = entry_key(pipeline, job_id)
    kept = pipeline.api.doors.cache.look(key[4:-8], pipeline.clock.now()).result
    assert kept is not None
    shorter = 1 - 0.4 * fraction
    assert kept.soft_until - kept.answered_at == pytest.approx(SOFT * shorter)
    assert kept.hard_until - kept.answered_at == pytest.approx(HARD * shorter)
    life = pipeline.valkey._do(lambda client: client.pttl(key)) / 1000
    assert HARD * shorter - 60 < life <= HARD * shorter
