"""What the bench `stampede` lets pass: a burst at a stale answer, and each way it may go wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.deployed.burst import Burst, Kind, Post
from bench.deployed.outcome import Outcome, Situation, books, outcome
from bench.deployed.rig import Rig
from tidegate.doors.ledger import Balance
from tidegate.rules.job import OPERATOR, Job, Status

MARK, PRICE, DEAR = "zb" + "0" * 32, 100, 1290
SITUATION = Situation("soft expiry", created=0, refreshed=1)


@dataclass
class Books:
    """As much of a rig as a burst is judged by."""

    made: dict[str, Job] = field(default_factory=dict)
    called: list[dict[str, Any]] = field(default_factory=list)
    balances: dict[str, Balance] = field(default_factory=dict)
    info: Any = field(default_factory=lambda: SimpleNamespace(partners=[SimpleNamespace(id="p")]))
    stage: Any = field(
        default_factory=lambda: SimpleNamespace(
            models={"m": SimpleNamespace(price=SimpleNamespace(cached=PRICE))}
        )
    )

    def jobs(self) -> dict[str, Job]:
        return dict(self.made)

    def calls(self) -> list[dict[str, Any]]:
        return self.called

    def ledger(self) -> Any:
        return SimpleNamespace(balance=lambda who: self.balances.get(who, Balance()))

    def add(self, job_id: str, partner: str, **changes: Any) -> None:
        job = Job(
            id=job_id, partner=partner, model="m", task="chat", job_key="k", fingerprint="f",
            idempotency_hash="h", status=Status.COMPLETED, created_at=0, enqueued_at=0,
            deadline_at=9e9, finished_at=time.time(),
        )  # fmt: skip
        self.made[job_id] = replace(job, **changes)

    def call(self, at: float, took: float = 2.0) -> None:
        self.called.append({"body": {"text": MARK}, "started_at": at, "ended_at": at + took})


def after(spoil: Callable[[Books, Burst], None] = lambda _books, _burst: None) -> Outcome:
    """Return what is found after two stale hits, a fresh one, and one refresh."""
    found, moment = Books(), time.monotonic() - 10
    rig = cast("Rig", found)
    found.call(moment - 100)
    before = books(rig)
    burst = Burst(rig, MARK, {"model": "m"}, 3)
    kinds: list[Kind] = ["stale", "stale", "fresh"]
    for number, kind in enumerate(kinds):
        job_id, begun = f"job_{number}", moment + 2 * number
        found.add(job_id, "p", charged=PRICE, cache_status="hit" if kind == "fresh" else "stale")
        burst.posts.append(Post(f"key-{number}", 200, kind, job_id, 1, begun, begun + 0.1))
    found.add("job_r", OPERATOR, charged=DEAR)
    found.call(moment + 1, took=2)
    found.balances.update({"p": Balance(captured=3 * PRICE), OPERATOR: Balance(captured=DEAR)})
    spoil(found, burst)
    return outcome(rig, SITUATION, burst, before, negative_ttl=5)


def test_a_burst_that_went_well_is_counted() -> None:
    found = after()
    assert found.wrong == []
    assert (found.fresh, found.stale, found.vendor_calls, found.most_calls) == (1, 2, 1, 1)
    assert (found.before, found.amid, found.refreshes, found.refreshed) == (1, 1, 1, 1)
    assert (found.partner_paid, found.operator_paid) == (3 * PRICE, DEAR)


def test_a_refresh_that_finds_the_new_answer_there_is_no_second_one() -> None:
    def another(found: Books, _burst: Burst) -> None:
        found.add("job_s", OPERATOR, charged=PRICE, cache_status="hit")
        found.balances[OPERATOR] = Balance(captured=DEAR + PRICE)

    found = after(another)
    assert (found.wrong, found.refreshes, found.refreshed) == ([], 2, 1)


def test_work_that_fails_has_a_leader_for_each_call_and_may_have_jobs_without_one() -> None:
    found, moment = Books(), time.monotonic() - 10
    before = books(cast("Rig", found))
    burst = Burst(cast("Rig", found), MARK, {"model": "m"}, 3)
    for number, starts in enumerate((1, 1, 0)):
        job_id = f"job_{number}"
        found.add(job_id, "p", status=Status.FAILED, starts=starts)
        burst.posts.append(Post(job_id, 202, "created", job_id, 1, moment, moment + 1))
    found.call(moment)
    ends = frozenset({Status.FAILED})
    situation = Situation("gate fails", calls=None, created=None, ends=ends)
    assert [*outcome(cast("Rig", found), situation, burst, before, 5).wrong] == [
        "jobs made for posts: too many, or too few"
    ]
    found.call(moment + 3)
    assert outcome(cast("Rig", found), situation, burst, before, 5).wrong == []


def second_call(found: Books, burst: Burst) -> None:
    found.call(burst.ended)


def no_call(found: Books, _burst: Burst) -> None:
    found.called.pop()


def second_refresh(found: Books, _burst: Burst) -> None:
    found.add("job_s", OPERATOR)


def unasked(found: Books, _burst: Burst) -> None:
    found.add("job_x", "p")


def lost(found: Books, _burst: Burst) -> None:
    del found.made["job_1"]


def still_open(found: Books, _burst: Burst) -> None:
    found.add("job_1", "p", status=Status.PROCESSING, finished_at=None)


def refused(_found: Books, burst: Burst) -> None:
    burst.posts[0] = replace(burst.posts[0], status=429, kind="other")


def created(_found: Books, burst: Burst) -> None:
    burst.posts[0] = replace(burst.posts[0], status=202, kind="created")


def at_the_partners_cost(found: Books, _burst: Burst) -> None:
    found.balances.update({"p": Balance(captured=3 * PRICE + DEAR), OPERATOR: Balance()})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (second_call, ["no vendor call, or over 1"]),
        (no_call, ["no vendor call, or over 1"]),
        (second_refresh, ["refreshes other than 1"]),
        (unasked, ["jobs that no post was told of"]),
        (lost, ["not every job has ended, or is there", "jobs that no post was told of"]),
        (still_open, ["not every job has ended, or is there", "ends that are not"]),
        (refused, ["not every post had an answer", "not paid by the partner"]),
        (created, ["jobs made for posts"]),
        (at_the_partners_cost, ["not paid by the partner", "not paid by the operator"]),
    ],
)
def test_what_is_not_as_promised_is_said(
    spoil: Callable[[Books, Burst], None], said: list[str]
) -> None:
    wrong = after(spoil).wrong
    assert [each[: len(what)] for each, what in zip(wrong, said, strict=True)] == said
