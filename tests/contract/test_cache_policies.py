"""What an entry says of its answers: which are used again, by whom, for how much."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import books
from tests.contract.caching import (
    CHAT,
    HARD,
    Deploy,
    chat,
    durable,
    forget,
    made,
    numbered,
    priced,
    results,
    spent,
    with_cache,
    work,
)
from tests.contract.paces import kept
from tests.pipeline import Pipeline

HOT: dict[str, Any] = {"params": {"temperature": 1}}
SEEDED: dict[str, Any] = {"params": {"temperature": 1, "seed": 7}}


@pytest.fixture
def build(deploy: Deploy) -> Deploy:
    """Make a pipeline whose chat has a policy, and whose vendor numbers its answers."""

    def built(price: int = 0, **policy: Any) -> Pipeline:
        pipeline = deploy(models=priced(CHAT, with_cache(**policy), price))
        numbered(pipeline)
        return pipeline

    return built


def again(pipeline: Pipeline, body: dict[str, Any], partner: str = "acme") -> bool:
    """Return whether a finished job's answer serves the same request under another key."""
    made(pipeline, body, "first")
    second = pipeline.post(body, "second", partner)
    assert second.status in {200, 202}
    return second.status == 200


@pytest.mark.parametrize(
    ("reuse", "fields", "used_again"),
    [
        ("always", HOT, True),
        ("always", {}, True),
        ("deterministic", HOT, False),
        ("deterministic", {}, True),  # its default is 0
        ("deterministic", SEEDED, True),
        ("never", HOT, False),
        ("never", {}, False),
        ("never", SEEDED, False),
    ],
)
def test_whether_a_finished_answer_is_used_again(
    build: Deploy, reuse: str, fields: dict[str, Any], used_again: bool
) -> None:
    pipeline = build(reuse=reuse)
    assert again(pipeline, chat(**fields)) == used_again
    stored = pipeline.post(chat(**fields), "first").headers["Cache-Status"]
    assert stored == ("tidegate; fwd=miss; stored" if used_again else "tidegate; fwd=bypass")
    assert (len(results(pipeline)), len(durable(pipeline))) == (used_again, used_again)
    if not used_again:
        body = pipeline.post(chat(**fields), "second").json
        assert (body["cache"]["status"], body["status"]) == ("bypass", "queued")


def test_an_answer_with_chance_is_joined_while_it_runs_and_not_used_afterwards(
    build: Deploy,
) -> None:
    pipeline = build(reuse="deterministic")
    ids = {pipeline.post(chat(**HOT), f"key-{n}").json["id"] for n in range(3)}
    assert len(ids) == 1
    work(pipeline)
    assert len(pipeline.vendor.calls) == 1
    assert pipeline.post(chat(**HOT), "late").status == 202
    forget(pipeline)
    assert (
        pipeline.post(chat(**HOT), "later").json["id"]
        == (pipeline.post(chat(**HOT), "late").json["id"])
    )


def test_asking_past_the_cache_costs_no_quota_where_there_is_none(build: Deploy) -> None:
    pipeline = build(reuse="never")
    for n in range(3):
        pipeline.post(chat(), f"key-{n}", Cache_Control="no-cache")
    assert not [key for key in kept(pipeline.valkey) if key.endswith(":bypasses")]


@pytest.mark.parametrize("policy", [{"reuse": "never"}, {"join": False}], ids=str)
def test_where_nothing_is_joined_each_key_is_a_call_and_its_retries_are_none(
    build: Deploy, policy: dict[str, Any]
) -> None:
    pipeline = build(**policy)
    ids = [pipeline.post(chat(), key).json["id"] for key in ("a", "b", "a", "b")]
    assert (ids[:2] == ids[2:], len(set(ids))) == (True, 2)
    work(pipeline)
    assert len(pipeline.vendor.calls) == 2
    texts = {pipeline.post(chat(), key).json["output"]["text"] for key in ("a", "b")}
    assert texts == {"answer 1", "answer 2"}
    assert pipeline.post(chat(), "c").status == 202


def test_an_answer_is_its_partners_own_unless_the_entry_shares_it(build: Deploy) -> None:
    assert not again(build(), chat(), "umbrella")


def test_a_shared_answer_serves_every_partner_at_its_price(build: Deploy) -> None:
    pipeline = build(7, scope="shared")
    assert again(pipeline, chat(), "umbrella")
    assert (spent(pipeline, "umbrella"), len(pipeline.vendor.calls)) == (7, 1)
    books.check(pipeline)


@pytest.mark.parametrize("price", [0, 7])
def test_a_cached_answer_costs_what_the_entry_says(build: Deploy, price: int) -> None:
    pipeline = build(price)
    made(pipeline, chat())
    before, entries = spent(pipeline), pipeline.ledger.balance("acme").entries
    hit = pipeline.post(chat(), "hit")
    assert hit.json["price"] == {"reserved_micro_credits": 0, "charged_micro_credits": price}
    pipeline.post(chat(), "hit")  # its repetition costs nothing
    assert spent(pipeline) == before + price
    assert pipeline.ledger.balance("acme").entries == entries + bool(price)
    books.check(pipeline)


def test_who_has_no_credits_left_is_not_served_what_has_a_price(build: Deploy) -> None:
    pipeline = build(7, scope="shared")
    made(pipeline, chat())
    refused = pipeline.post(chat(), "a", "penniless")
    assert (refused.status, refused.json["code"]) == (402, "insufficient_credits")
    assert "answer 1" not in refused.text


def test_answers_of_two_stretches_of_time_are_two(build: Deploy) -> None:
    pipeline = build(time_bucket=3600)
    pipeline.clock.time = 3600.0 * 500_000
    made(pipeline, chat())
    pipeline.later(3599)
    assert pipeline.post(chat(), "b").json["output"] == {"text": "answer 1"}
    pipeline.later(1)
    assert pipeline.post(chat(), "c").status == 202
    assert HARD > 3600  # by its own life the answer would have served
