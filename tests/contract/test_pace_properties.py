"""Any order of calls, bookings, ends and crashes: the vendor's own limit is never exceeded.

The vendor counts as vendors say they do: a bucket of one minute's limit that fills continuously
(developers.openai.com/api/docs/guides/rate-limits, docs.anthropic.com/en/api/rate-limits); a call
takes what it asks for when it begins, and what it did not use comes back when it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.local import redis
from tests.contract.paces import caller, kept, later, pace
from tests.patience import REDIS
from tests.properties import ONE_SERVER
from tidegate.clock import SystemClock
from tidegate.doors.pace import Caller
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings

REQUESTS, TOKENS = 120, 6000
"""Per minute: two and a hundred a second."""
LARGEST = 10.0
"""Seconds' worth of the tokens of one call, at most."""
LIFE = 30.0
ROUNDED = 0.01
"""Seconds by which times may differ that are written in milliseconds."""
NUMBERS = count()


@dataclass
class Bucket:
    """A limit as its vendor keeps it."""

    per_minute: float
    at: float
    used: float = 0.0
    """What is missing from the full bucket."""

    def take(self, amount: float, now: float, seconds: float) -> None:
        """Take so much, or give it back, of a bucket that holds so many seconds of the limit."""
        second = self.per_minute / 60
        self.used = max(0, self.used - (now - self.at) * second) + amount
        self.at = now
        assert self.used <= (min(60, seconds) + ROUNDED) * second, "the vendor refuses"


@dataclass
class Fleet:
    """One model's workers, and what the vendor sees of them."""

    valkey: Valkey
    limits: dict[str, Any]
    passed: float = 0.0

    def __post_init__(self) -> None:
        self.model = f"m{next(NUMBERS)}"
        self.pace = pace(self.valkey, 40, model=self.model, requests_per_minute=REQUESTS,
                         tokens_per_minute=TOKENS, **self.limits)  # fmt: skip
        self.requests = Bucket(REQUESTS, self.now)
        self.tokens = Bucket(TOKENS, self.now)
        self.late = 0.0
        self.running: list[Caller] = []
        self.booked: list[Caller] = []
        self.names = count()

    @property
    def now(self) -> float:
        """Return the server's time, that of the test's making included."""
        seconds, micros = self.valkey._do(lambda client: client.time())
        return float(seconds + micros / 1e6 + self.passed)

    @property
    def seconds(self) -> float:
        """Return how much of a limit may be used at once: stricter than any vendor.

        Whoever booked and comes late comes with those who are due by then.
        """
        return float(self.limits["burst"] + LARGEST + self.late)

    def call(self, who: Caller) -> None:
        """Call the vendor when the slot was granted, by Redis: we may hear of it much later."""
        held = self.valkey.get_hash(f"tg:{{{self.model}}}:held:{who.reservation}")
        due, begun = float(held["start"]) / 1000, float(held["begun"]) / 1000
        self.late = max(self.late, begun - due)
        self.requests.take(1, begun + self.passed, self.seconds)
        self.tokens.take(who.tokens, begun + self.passed, self.seconds)
        self.running.append(who)

    def crowd(self, size: int, tokens: int, low: bool, horizon: float) -> None:
        """Ask for so many slots of one kind."""
        for _ in range(size):
            self.ask(tokens, low, horizon)

    def ask(self, tokens: int, low: bool, horizon: float) -> None:
        """Ask for a slot, a new one or one that was booked; call if it is granted."""
        if horizon < 0 and self.booked:
            who, horizon = self.booked.pop(0), 0
        else:
            who = caller(f"r{next(self.names)}", tokens, lane="low" if low else "normal")
            horizon = abs(horizon)
        before = self.limits_kept()
        slot = self.pace.take(who, LIFE, horizon)
        if slot.granted:
            self.call(who)
        elif slot.why == "booked":
            assert 0 < slot.wait <= 60
            self.booked.append(who)
        else:
            assert slot.wait > horizon or slot.why == "calls" or slot.why == "low_calls"
            # What was up meanwhile may be gone; nothing is new.
            assert self.limits_kept().items() <= before.items()

    def end(self, which: int, used: float | None) -> None:
        """End a call: so much of its tokens was used, or nobody hears of it again."""
        if not self.running:
            return
        who = self.running.pop(which % len(self.running))
        if used is None:
            return
        spent = max(1, round(who.tokens * used))
        if self.limits["tokens_counted"] == "used":
            self.tokens.take(spent - who.tokens, self.now, self.seconds)
        self.pace.settle(who, spent, "answered")

    def unbook(self, which: int, crash: bool) -> None:
        """Give a booking back, or forget it."""
        if self.booked:
            who = self.booked.pop(which % len(self.booked))
            if not crash:
                self.pace.give_back(who)

    def wait(self, seconds: float) -> None:
        self.passed += seconds
        later(self.valkey, seconds)

    def limits_kept(self) -> dict[str, Any]:
        ours = f"tg:{{{self.model}}}:"
        found = {k: v for k, v in kept(self.valkey).items() if k.startswith(ours)}
        return {k: v for k, v in found.items() if not k.endswith((":pause", ":calls"))}

    def back_to_nothing(self) -> None:
        """Hold what is left when everybody is gone for a minute against nothing."""
        while self.running:
            self.end(0, 1.0)
        while self.booked:
            self.unbook(-1, crash=False)
        self.wait(61)
        assert self.limits_kept().keys() <= {f"tg:{{{self.model}}}:outcomes"}
        ours = f"tg:{{{self.model}}}:calls"
        assert ours not in kept(self.valkey)


@pytest.fixture
def single(redis_single: str) -> Iterator[Valkey]:
    redis.flush(redis_single)
    door = Valkey(RedisSettings(redis_single, None, None, ""), None, SystemClock(), REDIS)
    yield door
    door.close()


WHICH = st.integers(0, 9)
ASK = st.tuples(
    st.just("crowd"),
    st.integers(1, 8),
    st.integers(1, round(LARGEST * TOKENS / 60)),
    st.booleans(),
    st.one_of(st.just(0.0), st.floats(-1, -0.5), st.floats(0, 8)),
)
STEPS = st.one_of(
    ASK,
    ASK,
    st.tuples(st.just("end"), WHICH, st.one_of(st.none(), st.floats(0, 1), st.just(0.0))),
    st.tuples(st.just("unbook"), WHICH, st.booleans()),
    st.tuples(st.just("wait"), st.floats(0.01, 12)),
)


@settings(max_examples=150, suppress_health_check=ONE_SERVER)
@given(
    burst=st.sampled_from([0.0, 1.0, 45.0]),
    counted=st.sampled_from(["used", "reserved"]),
    steps=st.lists(STEPS, min_size=5, max_size=60),
)
def test_no_order_of_events_exceeds_the_vendors_limit_and_all_ends_at_nothing(
    single: Valkey, burst: float, counted: str, steps: list[tuple[Any, ...]]
) -> None:
    single._do(lambda client: client.flushall())
    fleet = Fleet(single, {"burst": burst, "tokens_counted": counted, "horizon": 8})
    for name, *args in steps:
        getattr(fleet, name)(*args)
    fleet.back_to_nothing()


def test_demand_without_end_is_within_the_limit_and_uses_it(single: Valkey) -> None:
    fleet = Fleet(single, {"burst": 1.0, "tokens_counted": "used", "horizon": 8})
    used, minutes = 0, 3
    for _ in range(minutes * 60):
        fleet.wait(1)
        while fleet.running:
            used += 1
            fleet.end(0, 0.5)
        for _ in range(len(fleet.booked)):
            fleet.ask(150, low=False, horizon=-1.0)
        while len(fleet.booked) < 4:
            fleet.ask(150, low=False, horizon=8.0)
    # 75 tokens of 6000 a minute are 80 calls.
    assert 0.95 * 80 <= used / minutes <= 80 * (1 + 1 / minutes)
