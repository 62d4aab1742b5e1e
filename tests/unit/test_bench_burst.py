"""What the bench `stampede` makes of a burst's answers."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.deployed.burst import Post, kind, most_calls, waits
from tests.properties import ANY_MACHINE
from tidegate.rules.job import Job, Status


def shown(status: str, *, stale: bool = False) -> dict[str, Any]:
    return {"cache": {"status": status, "stale": stale}}


@pytest.mark.parametrize(
    ("status", "how", "body", "expected"),
    [
        (202, "created", shown("miss"), "created"),
        (202, "joined", shown("miss"), "joined"),
        (200, "cached", shown("hit"), "fresh"),
        (200, "cached", shown("hit", stale=True), "stale"),
        (200, "created", shown("negative"), "failed"),
        (200, "replayed", shown("miss"), "other"),
        (429, "refused", {}, "other"),
        (503, "broken", {}, "other"),
    ],
)
def test_a_post_is_told_by_its_answer(
    status: int, how: str, body: dict[str, Any], expected: str
) -> None:
    assert kind(status, how, body) == expected


@pytest.mark.parametrize(
    ("seconds", "calls"), [(0, 2), (5, 2), (5.1, 3), (15, 3), (15.1, 4), (35, 4), (36, 5)]
)
def test_work_that_fails_is_tried_twice_then_once_per_life(seconds: float, calls: int) -> None:
    assert most_calls(seconds, 5) == calls


@settings(max_examples=100, deadline=None, suppress_health_check=ANY_MACHINE)
@given(st.floats(0, 100_000), st.floats(1, 300))
def test_lives_double_up_to_five_minutes(seconds: float, first: float) -> None:
    lives = [min(first * 2**n, 300.0) for n in range(most_calls(seconds, first) - 2)]
    assert sum(lives[:-1]) < seconds or not lives
    assert sum(lives) + min(first * 2 ** len(lives), 300.0) >= seconds


def job(job_id: str, finished_at: float | None) -> Job:
    made = Job(
        id=job_id, partner="p", model="m", task="chat", job_key="k", fingerprint="f",
        idempotency_hash="h", status=Status.QUEUED, created_at=0, enqueued_at=0, deadline_at=9e9,
    )  # fmt: skip
    if finished_at is None:
        return made
    return replace(made, status=Status.COMPLETED, finished_at=finished_at)


def test_a_wait_ends_with_the_job_and_not_before_the_answer() -> None:
    now, moment = time.time(), time.monotonic()

    def post(job_id: str) -> Post:
        return Post("key", 202, "joined", job_id, 1, moment - 10, moment - 9)

    jobs = {
        "late": job("late", now - 2),
        "early": job("early", now - 60),
        "open": job("open", None),
    }
    found = waits([post("late"), post("early"), post("open"), post("gone")], jobs)
    assert found[0] == pytest.approx(8, abs=1)
    assert found[1:] == [pytest.approx(1), math.inf, math.inf]
