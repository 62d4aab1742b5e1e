"""What a hit costs: one round trip to Redis, one write to DynamoDB, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.caching import (
    CHAT,
    SOFT,
    Deploy,
    chat,
    made,
    priced,
    void,
    watching,
    with_cache,
)
from tests.contract.redis_proxy import Proxy, before
from tests.contract.test_cache_code import MODEL, NAMES, ONE, asked
from tests.fakes import answer
from tests.patience import REDIS
from tests.pipeline import Pipeline
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings


@pytest.fixture
def proxied(deploy: Deploy, redis_single: str) -> Iterator[tuple[Pipeline, Proxy]]:
    models = priced(CHAT, with_cache(), 7)
    code = {"normalise": "code-structure"}
    entries = {**models.models, MODEL: with_cache(MODEL, code).models[MODEL]}
    pipeline = deploy(models=models.model_copy(update={"models": entries}))
    with before(redis_single) as (proxy, url):
        door = Valkey(RedisSettings(url, None, None, ""), None, SystemClock(), REDIS)
        pipeline.valkey = door
        yield pipeline, proxy
        door.close()


def costs(
    pipeline: Pipeline, proxy: Proxy, body: dict[str, Any], key: str
) -> tuple[int, list[str]]:
    """Return the round trips and the DynamoDB calls of a hit."""
    turns, calls = proxy.turns, []

    def seen(event_name: str, **_: Any) -> None:
        calls.append(event_name.rpartition(".")[2])

    with watching(seen):
        hit = pipeline.post(body, key)
    assert (hit.status, hit.json["source"]) == (200, "cache")
    return proxy.turns - turns, calls


WRITE = ["TransactWriteItems"]


def test_a_hit_is_one_round_trip_and_one_transaction(proxied: tuple[Pipeline, Proxy]) -> None:
    pipeline, proxy = proxied
    made(pipeline, chat())
    for number in range(3):
        assert costs(pipeline, proxy, chat(), f"hit-{number}") == (1, WRITE)


def test_a_large_answer_costs_no_more(proxied: tuple[Pipeline, Proxy]) -> None:
    pipeline, proxy = proxied
    pipeline.vendor.otherwise = lambda _call: answer("word é " * 140_000)
    made(pipeline, chat())
    assert costs(pipeline, proxy, chat(), "hit") == (1, WRITE)


def test_a_stale_hit_costs_one_more_to_see_that_somebody_makes_it_anew(
    proxied: tuple[Pipeline, Proxy],
) -> None:
    pipeline, proxy = proxied
    made(pipeline, chat())
    pipeline.later(SOFT)
    assert pipeline.post(chat(), "first").json["cache"]["stale"]
    assert costs(pipeline, proxy, chat(), "next") == (2, WRITE)


def test_a_hit_by_structure_is_one_round_trip_too(proxied: tuple[Pipeline, Proxy]) -> None:
    pipeline, proxy = proxied
    pipeline.vendor.otherwise = lambda call: answer(call.input["code"])
    made(pipeline, asked(ONE))
    found, own = (costs(pipeline, proxy, asked(NAMES), key) for key in ("found", "own"))
    assert found == (2, WRITE)  # and one that stores it under its own names
    assert own == (1, WRITE)


def test_after_an_invalidation_a_hit_costs_the_same(
    proxied: tuple[Pipeline, Proxy],
) -> None:
    pipeline, proxy = proxied
    made(pipeline, chat())
    void(pipeline, partner="umbrella")
    assert costs(pipeline, proxy, chat(), "not-mine") == (1, WRITE)
    void(pipeline, partner="acme")
    made(pipeline, chat(), "anew")
    assert costs(pipeline, proxy, chat(), "hit") == (1, WRITE)
