"""Answers declared void: at once for every process, for whom they were meant, and for good."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from moto.core.models import botocore_stubber

from tests.contract.caching import (
    CHAT,
    Deploy,
    beside,
    chat,
    forget,
    made,
    numbered,
    refreshes,
    void,
    watching,
    with_cache,
    work,
)
from tests.contract.paces import kept
from tests.pipeline import Pipeline
from tidegate.doors.epochs import LIFE
from tidegate.doors.valkey import Valkey
from tidegate.rules.contracts import Contract

CLAUDE = "chat-claude"


@pytest.fixture
def book(deploy: Deploy) -> Pipeline:
    """Two models that keep answers, and two partners who have one of each."""
    models = with_cache().model_copy(
        update={"models": {**with_cache().models, CLAUDE: with_cache(CLAUDE).models[CLAUDE]}}
    )
    pipeline = deploy(models=models)
    numbered(pipeline)
    for partner in ("acme", "umbrella"):
        for model in (CHAT, CLAUDE):
            made(pipeline, {**chat(), "model": model}, model, partner=partner)
    pipeline.later(1)
    return pipeline


ALL = {(partner, model) for partner in ("acme", "umbrella") for model in (CHAT, CLAUDE)}


def still(pipeline: Pipeline) -> set[tuple[str, str]]:
    """Return whose answers are served; each look has a key of its own."""
    found = set()
    for number, (partner, model) in enumerate(sorted(ALL)):
        asked = {**chat(), "model": model}
        key = f"still-{number}-{pipeline.ids._next()}"
        answer = pipeline.post(asked, key, partner, Cache_Control="only-if-cached")
        assert answer.status in {200, 504}, answer.text
        found |= {(partner, model)} if answer.status == 200 else set()
    return found


WHOSE: list[tuple[dict[str, str], set[tuple[str, str]]]] = [
    ({"model": CHAT}, {("acme", CLAUDE), ("umbrella", CLAUDE)}),
    ({"partner": "acme"}, {("umbrella", CHAT), ("umbrella", CLAUDE)}),
    ({"model": CHAT, "partner": "acme"}, ALL - {("acme", CHAT)}),
]


@pytest.mark.parametrize(("whose", "left"), WHOSE, ids=["a model", "a partner", "both"])
def test_only_those_that_were_meant_are_void_and_new_ones_count(
    book: Pipeline, whose: dict[str, str], left: set[tuple[str, str]]
) -> None:
    assert still(book) == ALL
    told = void(book, **whose)
    assert (told["seen"], told["since"]) == (True, book.clock.now())
    assert still(book) == left
    book.later(1)
    for partner, model in sorted(ALL - left):
        made(book, {**chat(), "model": model}, f"anew-{model}", partner=partner)
    assert still(book) == ALL
    assert len(book.vendor.calls) == 8 - len(left)


def test_a_job_of_before_is_not_joined_and_its_answer_not_served(book: Pipeline) -> None:
    before = book.post(chat("slow"), "a").json["id"]
    void(book, model=CHAT)
    after = book.post(chat("slow"), "b").json["id"]
    assert after != before
    assert book.post(chat("slow"), "a").json["id"] == before  # a retry is still that job
    work(book)
    assert len(book.vendor.calls) == 6
    assert book.post(chat("slow"), "c").json["output"] == {"text": "answer 6"}


def test_another_process_sees_it_at_once_through_redis(book: Pipeline) -> None:
    other = beside(book)
    with ThreadPoolExecutor(1) as process:
        assert process.submit(still, other).result() == ALL
        void(book, model=CHAT)
        assert process.submit(still, other).result() == {("acme", CLAUDE), ("umbrella", CLAUDE)}


def test_with_redis_emptied_it_holds(book: Pipeline) -> None:
    void(book, model=CHAT)
    forget(book)
    assert still(book) == WHOSE[0][1]
    assert still(beside(book)) == WHOSE[0][1]


def test_copies_end_and_are_made_again(book: Pipeline) -> None:
    void(book, partner="acme")
    for _ in range(2):
        still(book)
        book.later(LIFE / 1000 + 1)
        assert not [key for key in kept(book.valkey) if key.startswith("tg:{epochs}")]
        assert still(book) == WHOSE[1][1]


def test_without_redis_it_holds_and_the_operator_is_told_that_copies_may_live(
    book: Pipeline, no_valkey: Valkey
) -> None:
    dark = beside(book, valkey=no_valkey)
    assert still(dark) == ALL
    assert void(dark, model=CHAT)["seen"] is False
    assert still(dark) == WHOSE[0][1]
    book.later(LIFE / 1000 + 1)  # the copies of before have ended
    assert still(book) == WHOSE[0][1]


def test_declared_twice_it_is_the_later_moment_and_never_an_earlier_one(book: Pipeline) -> None:
    first = void(book, model=CHAT)["since"]
    assert void(book, model=CHAT)["since"] == first
    book.later(10)
    made(book, chat(), "anew")
    later = void(book, model=CHAT)["since"]
    assert later == first + 10
    assert still(book) == WHOSE[0][1]
    book.clock.time -= 5  # another operator's clock is late
    assert void(book, model=CHAT)["since"] == later
    assert still(book) == WHOSE[0][1]


def test_a_lost_reply_of_the_write_is_no_second_epoch(book: Pipeline) -> None:
    lost: list[bytes] = []

    def lose(event_name: str, request: Any, **_: Any) -> None:
        if event_name.endswith("PutItem") and b"epoch#" in request.body and not lost:
            lost.append(request.body)
            answer: Any = botocore_stubber
            answer(event_name, request)
            raise ConnectionClosedError(endpoint_url=request.url)

    now = book.clock.now()
    with watching(lose):
        told = void(book, model=CHAT)
    assert told == {"model": CHAT, "partner": None, "since": now, "seen": True}
    assert len(lost) == 1
    assert still(book) == WHOSE[0][1]


def test_under_shared_answers_a_partners_epoch_is_that_partners_alone(deploy: Deploy) -> None:
    pipeline = deploy(models=with_cache(scope="shared"))
    numbered(pipeline)
    made(pipeline, chat())
    pipeline.later(1)
    void(pipeline, partner="acme")
    pipeline.later(1)
    theirs = pipeline.post(chat(), "b", "umbrella")
    assert (theirs.status, theirs.json["output"]) == (200, {"text": "answer 1"})
    mine = pipeline.post(chat(), "b")
    assert mine.status == 202
    work(pipeline)
    assert pipeline.post(chat(), "b").json["output"] == {"text": "answer 2"}
    for n, partner in enumerate(("acme", "umbrella")):  # the new one serves all
        assert pipeline.post(chat(), f"c-{n}", partner).json["output"] == {"text": "answer 2"}
    pipeline.later(1)
    void(pipeline, model=CHAT)
    for partner in ("acme", "umbrella"):
        assert pipeline.post(chat(), "d", partner).status == 202


def test_a_refresh_at_work_does_not_bring_back_what_is_void(book: Pipeline) -> None:
    book.later(1500)
    assert book.post(chat(), "stale").json["cache"]["stale"]
    void(book, model=CHAT)
    assert len(refreshes(book)) == 1
    work(book)
    assert still(book) == WHOSE[0][1]


CHANGES: dict[str, Callable[[], dict[str, Any]]] = {
    "version": lambda: {"version": "next"},
    "vendor's model": lambda: {"vendor_model": "another"},
    "system prompt": lambda: {"system": "Answer in verse."},
    "contract version": lambda: {"contract": Contract(schema={}, version="2")},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_catalogue_in_which_answers_are_made_otherwise_has_none_yet(
    deploy: Deploy, change: str
) -> None:
    before = {"contract": Contract(schema={}, version="1")} if "contract" in change else {}
    pipeline = deploy(models=with_cache(entry=before))
    made_so = {**chat()}
    pipeline.post(made_so, "a")
    same = beside(pipeline, models=with_cache(entry={**before, "max_input_bytes": 9999}))
    assert same.post(made_so, "b").json["id"] == pipeline.post(made_so, "a").json["id"]
    changed = beside(pipeline, models=with_cache(entry={**before, **CHANGES[change]()}))
    fresh = changed.post(made_so, "c")
    assert fresh.json["id"] != pipeline.post(made_so, "a").json["id"]
