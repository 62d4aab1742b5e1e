"""The twins of the pace's and the line's scripts do what the scripts do, on any sequence.

Both run behind the shipped doors. Decisions are the same, word by word; times may differ by what
passes between the two calls. Limits are chosen so that no decision hangs on that.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.explorer.hub import Hub
from tests.explorer.memory_keys import Keys
from tests.explorer.memory_valkey import MemoryValkey
from tests.explorer.models import CHAT
from tests.properties import ONE_SERVER
from tidegate.clock import SystemIds
from tidegate.doors.line import Line
from tidegate.doors.pace import Caller, Pace
from tidegate.doors.rate import Rate
from tidegate.doors.valkey import Valkey
from tidegate.rules.catalogue import Entry, parse
from tidegate.rules.job import Job, Lane, Status

TOLERANCE = 0.25
"""Seconds between a script and its twin."""

CALLERS = (
    Caller("r0", "r0", "acme", "normal", 900),
    Caller("r1", "r1", "acme", "low", 700),
    Caller("r2", "r2", "beta", "normal", 400),
    Caller("r3", "r3", "beta", "low", 300),
    Caller("r4", "r4", "acme", "normal", 100),
)
CALLER = st.sampled_from(CALLERS)
PACES: tuple[dict[str, Any], ...] = (
    {},
    {"requests_per_minute": 3, "burst": 27},
    {"requests_per_minute": 7, "tokens_per_minute": 2_100, "burst": 0},
    {"tokens_per_minute": 1_700, "tokens_counted": "reserved", "burst": 31},
)
LIVES = st.sampled_from([41.3, 67.7])
HORIZONS = st.sampled_from([0, 13.7, 44.9])
STEPS = st.one_of(
    st.tuples(st.just("take"), CALLER, LIVES, HORIZONS),
    st.tuples(st.just("take"), CALLER, LIVES, HORIZONS),
    st.tuples(st.just("give_back"), CALLER),
    st.tuples(
        st.just("settle"), CALLER, st.sampled_from([None, 50, 1_500, 10**12]),
        st.sampled_from(["answered", "refused", "failed"]),
    ),
    st.tuples(
        st.just("cool_down"), CALLER, st.sampled_from([None, 0.04, 9.7, 700.3]),
        st.sampled_from(["throttled", "account", "failing", "failing", "refusing"]),
    ),
    st.tuples(
        st.just("switch"), st.booleans(), st.sampled_from([None, -50, 50]), st.booleans(),
        st.sampled_from([0, 5]),
    ),
    st.tuples(st.just("switch"), st.just(False), st.none(), st.just(True), st.just(7)),
    st.tuples(st.just("paused")),
)  # fmt: skip


def _entry(pace: dict[str, Any]) -> Entry:
    parameters = {"max_tokens": {"type": "integer", "default": 100}}
    breaker = {"failures": 2, "calls": 3, "share": 0.6}
    model = {**CHAT, "max_concurrency": 4, "parameters": parameters, "pace": pace}
    model["breaker"] = breaker
    return parse({"models": {"m": model}}).models["m"]


def _memory() -> MemoryValkey:
    # Whole microseconds, as Redis has them.
    return MemoryValkey(Hub(), Keys(lambda: time.time_ns() // 1000 / 1000))


def _same(told: Any, twin: Any) -> bool:
    """Return whether two answers are one, but for time that passed between."""
    if isinstance(told, float | int) and not isinstance(told, bool):
        return bool(abs(told - twin) <= TOLERANCE)
    if isinstance(told, dict):
        return told.keys() == twin.keys() and all(_same(told[n], twin[n]) for n in told)
    if isinstance(told, tuple):
        return len(told) == len(twin) and all(map(_same, told, twin))
    return bool(told == twin)


def _done(pace: Pace, step: tuple[Any, ...], now: float) -> Any:
    match step:
        case ("take", caller, life, horizon):
            slot = pace.take(caller, life, horizon)
            return slot.why, slot.wait
        case ("give_back", caller):
            return pace.give_back(caller)
        case ("settle", caller, used, outcome):
            return pace.settle(caller, used, outcome)
        case ("cool_down", caller, asked, reason):
            return pace.cool_down(caller, asked, reason)
        case ("switch", off, left, turned, at):
            until = None if left is None else now + left
            return pace.switch(off=off, until=until, turned=turned, at=at)
        case _:
            return {name: _read(value) for name, value in pace.paused().items()}


def _read(value: str) -> float | str:
    """Return a time in seconds, or what else a field holds."""
    try:
        number = float(value)
    except ValueError:
        return value
    return number / 1000 if number > 1e9 else number


@settings(max_examples=80, suppress_health_check=ONE_SERVER)
@given(pace=st.sampled_from(PACES), steps=st.lists(STEPS, max_size=25))
def test_a_slot_is_granted_booked_or_refused_by_both(
    valkey: Valkey, pace: dict[str, Any], steps: list[tuple[Any, ...]]
) -> None:
    name, entry = f"m{time.monotonic_ns()}", _entry(pace)
    real, twin = Pace(valkey, name, entry), Pace(_memory(), name, entry)
    for at, step in enumerate([("switch", False, None, False, 0), *steps, ("paused",)]):
        now = time.time()
        told, copy = _done(real, step, now), _done(twin, step, now)
        assert _same(told, copy), f"{step} of {steps[:at]}: {told}, twin {copy}"


def test_what_has_ended_is_free_in_both(valkey: Valkey) -> None:
    name, entry = f"m{time.monotonic_ns()}", _entry({})
    for pace in (Pace(valkey, name, entry), Pace(_memory(), name, entry)):
        first, second = CALLERS[:2]
        assert pace.take(first, 1, 1).why == "unknown"
        pace.switch(off=True, until=time.time() + 0.05, turned=True)
        assert pace.take(first, 1, 1).why == "switched_off"
        time.sleep(0.07)
        assert pace.take(first, 0.05, 1).granted
        time.sleep(0.07)
        assert pace.take(second, 1, 1).granted
        assert pace.cool_down(second, 1.2, "throttled")[1] == 1
        assert pace.take(first, 1, 1).why == "paused"
        time.sleep(1.25)
        assert pace.take(first, 0.05, 1).granted
        assert pace.take(second, 1, 1).why == "probing"
        time.sleep(0.07)
        assert pace.take(second, 1, 1).granted
        pace.settle(second, None, "answered")
        assert pace.take(first, 1, 1).granted
        assert pace.paused()["strikes"] == "0"


def _job(partner: str, number: int, lane: Lane) -> Job:
    return Job(
        id=f"job_{number}", partner=partner, model="m", task="chat", job_key="k", fingerprint="f",
        idempotency_hash="h", status=Status.QUEUED, created_at=1.0, enqueued_at=1.0 + number % 3,
        deadline_at=9.0, priority=lane,
    )  # fmt: skip


JOBS = st.builds(
    _job, st.sampled_from(["acme", "beta", "c-1"]), st.integers(0, 5),
    st.sampled_from(["normal", "low"]),
)  # fmt: skip
IN_LINE = st.one_of(
    st.tuples(st.just("join"), JOBS),
    st.tuples(st.just("join"), JOBS),
    st.tuples(st.just("turn"), JOBS, st.integers(1, 2)),
    st.tuples(st.just("waiting"), JOBS),
    st.tuples(st.just("leave"), JOBS),
    st.tuples(st.just("call"), CALLER),
)


@settings(max_examples=80, suppress_health_check=ONE_SERVER)
@given(steps=st.lists(IN_LINE, max_size=25))
def test_a_turn_is_given_to_the_same_job_by_both(
    valkey: Valkey, steps: list[tuple[Any, ...]]
) -> None:
    model, entry = f"m{time.monotonic_ns()}", _entry({})
    answers: list[list[Any]] = []
    for redis in (valkey, _memory()):
        line, pace = Line(redis, SystemIds()), Pace(redis, model, entry)
        pace.switch(off=False, until=None, turned=False)
        told: list[Any] = []
        for name, who, *rest in steps:
            if name == "call":
                told.append(pace.take(who, 60, 0).why)
            else:
                told.append(getattr(line, name)(replace(who, model=model), *rest))
        answers.append(told)
    assert answers[0] == answers[1]


@settings(max_examples=50, suppress_health_check=ONE_SERVER)
@given(
    limit=st.sampled_from([1, 3, 7]),
    requests=st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=15),
)
def test_a_partners_requests_are_counted_alike_by_both(
    valkey: Valkey, limit: int, requests: list[str]
) -> None:
    partner = f"p{time.monotonic_ns()}"
    real, twin = Rate(valkey), Rate(_memory())
    for request in requests:
        told, copy = (door.take(partner, request, limit) for door in (real, twin))
        assert told.allowed is copy.allowed
        assert abs(told.left - copy.left) <= TOLERANCE
        assert abs(told.wait - copy.wait) <= TOLERANCE
