"""Making a stale answer anew, and what becomes of the stale one where that does not work out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract import books
from tests.contract.caching import (
    PRICE,
    SOFT,
    Deploy,
    beside,
    chat,
    forget,
    made,
    refreshes,
    spent,
    watching,
    with_cache,
    work,
)
from tests.contract.jobs import ATTEMPTS
from tests.fakes import answer
from tests.pipeline import FUNDS, Answer, Pipeline
from tidegate.doors.valkey import Valkey
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.flows.refresh import PAUSE
from tidegate.rules.job import Status
from tidegate.rules.pacing import Shares


def stale(pipeline: Pipeline, key: str) -> Answer:
    """Return a hit that is the stale answer."""
    hit = pipeline.post(chat(), key)
    assert (hit.status, hit.json["cache"]["stale"]) == (200, True)
    assert hit.json["output"] == {"text": "answer 1"}
    return hit


GATE = answer("half an ans", finish="truncated")
FAILURES: dict[str, tuple[list[Any], Status]] = {
    "refused for good": ([VendorRefused("400", vendor_status=400)], Status.FAILED),
    "does not pass": ([GATE], Status.QUARANTINED),
    "attempts used up": ([VendorFailed("500", vendor_status=500)] * ATTEMPTS, Status.DEAD_LETTERED),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_refresh_that_fails_leaves_the_stale_answer_and_the_next_comes_after_a_pause(
    lives: Pipeline, name: str
) -> None:
    made(lives, chat())
    script, end = FAILURES[name]
    for number in (1, 2):
        lives.later(SOFT if number == 1 else 31)
        lives.vendor.script = list(script)
        stale(lives, f"before-{number}")
        work(lives)
        assert [job.status for job in refreshes(lives)] == [end] * number
        lives.later(PAUSE - 30)
        stale(lives, f"after-{number}")
        assert len(refreshes(lives)) == number
    assert len(lives.vendor.calls) == 1 + 2 * len(script)
    assert spent(lives, "_operator") == 0
    books.check(lives)


def test_a_refresh_that_cannot_be_stored_is_no_trouble_of_who_asked(lives: Pipeline) -> None:
    made(lives, chat())
    lives.later(SOFT)

    def broken(event_name: str, request: Any, **_: Any) -> None:
        if event_name.endswith("TransactWriteItems") and b"_operator" in request.body:
            raise ClientError({"Error": {"Code": "InternalServerError"}}, "TransactWriteItems")

    before = spent(lives)
    with watching(broken):
        stale(lives, "b")
    assert (refreshes(lives), spent(lives)) == ([], before + PRICE)


def test_the_operators_account_is_given_what_a_refresh_may_cost_and_partners_pay_nothing(
    lives: Pipeline,
) -> None:
    made(lives, chat())
    lives.later(SOFT)
    assert lives.ledger.balance("_operator").entries == 0
    stale(lives, "b")
    (job,) = refreshes(lives)
    (given,) = [e for e in lives.ledger.entries("_operator") if e.kind == "credit"]
    assert given.available == job.reserved > 0
    work(lives)
    money = books.check(lives)
    assert sum(money["_operator"].values()) == given.available
    assert sum(money["acme"].values()) == FUNDS


def test_as_many_refreshes_wait_as_jobs_of_a_partner_may(deploy: Deploy) -> None:
    pipeline = deploy(models=with_cache(entry={"shares": Shares(queued=1)}))
    for n in range(2):
        made(pipeline, chat(f"question {n}"), f"key-{n}")
    pipeline.later(SOFT)
    for n in range(2):
        hit = pipeline.post(chat(f"question {n}"), f"stale-{n}")
        assert (hit.status, hit.json["cache"]["stale"]) == (200, True)
    assert len(refreshes(pipeline)) == 1


def test_a_mark_that_redis_lost_begins_no_second_refresh(lives: Pipeline) -> None:
    made(lives, chat())
    lives.later(SOFT)
    stale(lives, "b")
    for n in range(2):
        forget(lives)
        stale(lives, f"again-{n}")
    assert len(refreshes(lives)) == 1
    work(lives)
    assert len(lives.vendor.calls) == 2


def test_without_redis_the_stale_answer_is_served_and_made_anew_when_it_is_back(
    lives: Pipeline, no_valkey: Valkey
) -> None:
    made(lives, chat())
    lives.later(SOFT)
    stale(beside(lives, valkey=no_valkey), "b")
    assert refreshes(lives) == []
    stale(lives, "c")
    assert len(refreshes(lives)) == 1


ASKED: list[Callable[[Pipeline, str, str], Answer]] = [
    lambda p, partner, job: p.get(f"/v1/jobs/{job}", partner=partner),
    lambda p, partner, job: p.get(f"/v1/jobs/{job}/result", partner=partner),
    lambda p, partner, job: p.send("POST", f"/v1/jobs/{job}/cancel", partner=partner),
]


def test_the_operators_jobs_are_not_there_for_partners(lives: Pipeline) -> None:
    made(lives, chat())
    lives.later(SOFT)
    stale(lives, "b")
    (job,) = refreshes(lives)
    for partner in ("acme", "umbrella"):
        for ask in ASKED:
            assert ask(lives, partner, job.id).status == 404
    work(lives)
    assert job.id not in lives.post(chat(), "c").text
