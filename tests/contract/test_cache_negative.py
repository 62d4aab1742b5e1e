"""That work has just failed for good is remembered: one may try once more, then nobody for a while.

RFC 9520 (negative caching of failures): at least 1 s, doubled, at most 5 minutes.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import books
from tests.contract.caching import CHAT, Deploy, chat, forget, numbered, spent, with_cache, work
from tests.contract.jobs import ATTEMPTS, loaded
from tests.contract.structured import cache_status
from tests.fakes import answer
from tests.pipeline import Answer, Pipeline
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.rules.job import Status

FIRST = 60
REFUSED = VendorRefused("400", vendor_status=400)
HALF = answer("half an ans", finish="truncated")
ENDS: dict[str, tuple[Any, str, str]] = {
    "refused for good": (REFUSED, "failed", "vendor_refused"),
    "does not pass": (HALF, "quarantined", "truncated"),
}


@pytest.fixture
def failing(deploy: Deploy) -> Pipeline:
    pipeline = deploy(models=with_cache(negative_ttl=FIRST))
    pipeline.vendor.script = [REFUSED] * 99
    return pipeline


def tried(pipeline: Pipeline, key: str, body: dict[str, Any] | None = None, **said: str) -> Answer:
    """Return the end of a request, and let it be worked on if it is."""
    posted = pipeline.post(body or chat(), key, **said)
    work(pipeline)
    return posted if posted.status == 200 else pipeline.post(body or chat(), key, **said)


def held(answer: Answer) -> bool:
    """Return whether it was answered by what is remembered, after looking at how."""
    assert answer.status == 200, answer.text
    if answer.json["cache"]["status"] != "negative":
        return False
    assert (answer.json["status"], answer.json["done"]) == ("failed", True)
    assert (answer.json["attempts"], answer.json["price"]["charged_micro_credits"]) == (0, 0)
    said = cache_status(answer.headers["Cache-Status"]).said
    assert said == {"fwd": "miss", "detail": "negative"}
    return True


@pytest.mark.parametrize("name", ENDS)
def test_the_second_failure_in_a_row_holds_and_says_what_it_was(
    failing: Pipeline, name: str
) -> None:
    step, status, code = ENDS[name]
    failing.vendor.script = [step] * 2
    for number in (1, 2):
        first = tried(failing, f"key-{number}")
        assert (first.json["status"], first.json["error"]["code"]) == (status, code)
        assert not held(first)
        assert len(failing.vendor.calls) == number
    third = tried(failing, "key-3")
    assert held(third)
    assert third.json["error"]["code"] == code
    assert third.json["error"]["retryable"] is False
    assert tried(failing, "key-3").headers["Idempotent-Replayed"] == "true"
    result = failing.get(f"/v1/jobs/{third.json['id']}/result")
    assert (result.status, result.json["code"]) == (409, "job_failed")
    assert (len(failing.vendor.calls), spent(failing)) == (2, 0)
    assert len(failing.bodies(failing.dlq_url(CHAT))) == (2 if status == "failed" else 0)
    books.check(failing)


def test_it_holds_twice_as_long_after_each_failure_and_five_minutes_at_most(
    failing: Pipeline,
) -> None:
    tried(failing, "first")
    for number, seconds in enumerate((FIRST, 2 * FIRST, 4 * FIRST, 300, 300)):
        assert not held(tried(failing, f"tried-{number}"))
        assert held(tried(failing, f"held-{number}"))
        failing.later(seconds - 1)
        assert held(tried(failing, f"still-{number}")), seconds
        failing.later(1)
    assert len(failing.vendor.calls) == 6


def test_an_answer_ends_it(failing: Pipeline) -> None:
    for number in (1, 2):
        tried(failing, f"key-{number}")
    failing.later(FIRST)
    failing.vendor.script = []
    numbered(failing)
    assert tried(failing, "well").json["output"] == {"text": "answer 1"}
    assert tried(failing, "hit").json["source"] == "cache"
    failing.later(5000)
    failing.vendor.script = [REFUSED] * 2
    assert not held(tried(failing, "anew-1"))
    assert not held(tried(failing, "anew-2"))  # one in a row again


def test_failures_far_apart_are_not_in_a_row(failing: Pipeline) -> None:
    for number in range(3):
        assert not held(tried(failing, f"key-{number}"))
        failing.later(601)
    assert len(failing.vendor.calls) == 3


def test_only_the_same_work_is_held(failing: Pipeline) -> None:
    for number in (1, 2):
        tried(failing, f"key-{number}")
    failing.vendor.script = []
    for body, partner in ((chat("another"), "acme"), (chat(), "umbrella")):
        assert failing.post(body, "key-3", partner).status == 202


@pytest.mark.parametrize("said", ["no-cache", "no-store"])
def test_who_asks_past_the_cache_is_not_held(failing: Pipeline, said: str) -> None:
    for number in (1, 2):
        tried(failing, f"key-{number}")
    failing.later(1)
    assert not held(tried(failing, "past", Cache_Control=said))
    assert len(failing.vendor.calls) == 3


def test_an_entry_that_remembers_no_failures_tries_each_time(deploy: Deploy) -> None:
    pipeline = deploy(models=with_cache(negative_ttl=0))
    pipeline.vendor.script = [REFUSED] * 4
    for number in range(4):
        assert not held(tried(pipeline, f"key-{number}"))
    assert len(pipeline.vendor.calls) == 4


def test_what_may_pass_is_not_remembered(failing: Pipeline) -> None:
    failing.vendor.script = [VendorFailed("500", vendor_status=500)] * (2 * ATTEMPTS)
    for number in (1, 2):
        failing.post(chat(), f"key-{number}")
        work(failing)
    assert failing.post(chat(), "key-3").status == 202


def test_with_redis_emptied_it_is_forgotten_and_one_call_more_is_made(failing: Pipeline) -> None:
    for number in (1, 2):
        tried(failing, f"key-{number}")
    forget(failing)
    assert not held(tried(failing, "key-3"))
    assert len(failing.vendor.calls) == 3


def test_a_job_an_operator_opens_again_is_tried_whatever_is_remembered(failing: Pipeline) -> None:
    first = tried(failing, "key-1").json["id"]
    tried(failing, "key-2")
    assert held(tried(failing, "key-3"))
    failing.vendor.script = []
    numbered(failing)
    ended = loaded(failing, first)
    failing.later(1)
    opened = failing.worker(CHAT).finish.endings.reopen(ended, now=failing.clock.now())
    failing.api.doors.waiting_room.send(opened)
    work(failing)
    assert loaded(failing, first).status is Status.COMPLETED
    assert failing.post(chat(), "hit").json["output"] == {"text": "answer 1"}
