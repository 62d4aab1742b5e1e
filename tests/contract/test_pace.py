"""A model's pace on a real Redis, one node and a cluster: slots, bookings, limits, lanes."""

from __future__ import annotations

import pytest

from tests.contract.paces import LIFE, caller, kept, later, near, pace
from tests.patience import until
from tidegate.doors.pace import KNOWN, REFUSALS, Pace
from tidegate.doors.valkey import Valkey

HORIZON = 25.0

A, B, C, D = (caller(name, 100) for name in "abcd")


def every_ten_seconds(valkey: Valkey, places: int = 9) -> Pace:
    """Return a pace of a request every ten seconds, and no burst."""
    return pace(valkey, places, requests_per_minute=6, burst=0)


def test_a_slot_within_the_horizon_is_booked_and_granted_when_it_is_due(valkey: Valkey) -> None:
    model = every_ten_seconds(valkey)
    assert model.take(A, LIFE, HORIZON).granted
    for who, wait in ((B, 10), (C, 20)):
        slot = model.take(who, LIFE, HORIZON)
        assert (slot.why, slot.wait) == ("booked", near(wait))
    later(valkey, 10)
    again = model.take(C, LIFE, HORIZON)  # who asks first does not overtake
    assert (again.why, again.wait) == ("booked", near(10))
    assert model.take(B, LIFE, HORIZON).granted
    assert model.take(D, LIFE, HORIZON).wait == near(20)
    later(valkey, 10)
    assert model.take(C, LIFE, HORIZON).granted


def test_a_slot_beyond_the_horizon_leaves_no_trace(valkey: Valkey) -> None:
    model = every_ten_seconds(valkey)
    assert model.take(A, LIFE, 0).granted
    before = kept(valkey)
    for horizon in (0, 9):
        slot = model.take(B, LIFE, horizon)
        assert (slot.why, slot.wait) == ("requests", near(10))
    assert kept(valkey) == before


@pytest.mark.parametrize("why", ["calls", "low_calls", "paused", "switched_off", "probing"])
def test_whatever_else_refuses_leaves_no_trace_either(valkey: Valkey, why: str) -> None:
    model = pace(valkey, 1 if why == "calls" else 8, requests_per_minute=60, burst=10)
    asking = caller("asks", lane="low") if why == "low_calls" else caller("asks")
    if why == "low_calls":
        assert all(model.take(caller(f"low-{n}", lane="low"), LIFE, 0).granted for n in range(2))
    else:
        assert model.take(A, LIFE, 0).granted
    if why in {"paused", "probing"}:
        model.cool_down(A, 5.0, "throttled")
    if why == "probing":
        later(valkey, 6)
        assert model.take(B, LIFE, 0).granted
    if why == "switched_off":
        model.switch(off=True, until=None, turned=True, at=1.0)
    before = kept(valkey)
    assert model.take(asking, LIFE, 0).why == why
    assert kept(valkey) == before


def test_asked_again_it_is_the_same_slot(valkey: Valkey) -> None:
    model = every_ten_seconds(valkey)
    for who in (A, B):
        model.take(who, LIFE, HORIZON)
        before = kept(valkey)["tg:{m}:requests"]
        for _ in range(3):
            model.take(who, LIFE, HORIZON)
        assert kept(valkey)["tg:{m}:requests"] == before
    assert model.take(C, LIFE, HORIZON).wait == near(20)


def test_what_a_burst_allows_goes_at_once_and_no_more(valkey: Valkey) -> None:
    model = pace(valkey, 99, requests_per_minute=12, burst=50)
    granted = [model.take(caller(f"c{n}"), LIFE, 0).granted for n in range(20)]
    assert granted == [True] * 10 + [False] * 10


def test_tokens_are_a_limit_of_their_own(valkey: Valkey) -> None:
    model = pace(valkey, 99, requests_per_minute=600, tokens_per_minute=600, burst=0)
    assert model.take(A, LIFE, 0).granted  # 100 tokens are ten seconds
    slot = model.take(B, LIFE, 0)
    assert (slot.why, slot.wait) == ("tokens", near(10))
    assert "tg:{m}:held:b" not in kept(valkey)


@pytest.mark.parametrize(
    ("counted", "used", "next_after"),
    [
        ("used", 40, 4),  # what was not used comes back
        ("used", 100, 10),
        ("used", 250, 25),  # what was used beyond is missing afterwards
        ("used", None, 10),
        ("reserved", 40, 10),
        ("reserved", 250, 25),
    ],
)
def test_a_call_is_settled_by_what_the_vendors_quota_counts(
    valkey: Valkey, counted: str, used: int | None, next_after: float
) -> None:
    model = pace(valkey, tokens_per_minute=600, tokens_counted=counted, burst=0)
    assert model.take(A, LIFE, 0).granted
    for _ in range(2):  # twice is once
        model.settle(A, used, "answered")
    assert model.take(B, LIFE, 0).wait == near(next_after)
    assert "tg:{m}:held:a" not in kept(valkey)


def test_a_slot_that_is_given_back_is_the_next_ones(valkey: Valkey) -> None:
    model = every_ten_seconds(valkey)
    assert model.take(A, LIFE, HORIZON).granted
    before = kept(valkey)
    assert model.take(B, LIFE, HORIZON).why == "booked"
    for _ in range(2):
        model.give_back(B)
        assert kept(valkey) == before
    assert model.take(C, LIFE, HORIZON).wait == near(10)


def test_a_slot_with_others_booked_behind_it_is_not_given_away_twice(valkey: Valkey) -> None:
    model = every_ten_seconds(valkey)
    for who in (A, B, C):
        model.take(who, LIFE, HORIZON)
    model.give_back(B)
    assert model.take(D, LIFE, 60).wait == near(30)


def test_lane_low_has_its_share_of_the_places(valkey: Valkey) -> None:
    model = pace(valkey, 8)
    low = [model.take(caller(f"low-{n}", lane="low"), LIFE, 0).why for n in range(3)]
    assert low == ["granted", "granted", "low_calls"]  # a quarter of eight
    normal = [model.take(caller(f"n-{n}"), LIFE, 0).why for n in range(7)]
    assert normal == ["granted"] * 6 + ["calls"]


def test_lane_low_has_its_share_of_the_requests_and_nobody_elses(valkey: Valkey) -> None:
    model = pace(valkey, 99, requests_per_minute=12, burst=40)
    low = [model.take(caller(f"low-{n}", lane="low"), LIFE, 0).why for n in range(3)]
    assert low == ["granted", "granted", "low_requests"]  # each is twenty seconds of its lane
    normal = [model.take(caller(f"n-{n}"), LIFE, 0).why for n in range(7)]
    assert normal == ["granted"] * 6 + ["requests"]


def test_a_dead_holders_place_is_free_within_its_life(valkey: Valkey) -> None:
    """Its last moments on Redis's own clock: nobody helps it along."""
    life = 4.0
    model = pace(valkey, 1)
    assert model.take(A, life, 0).granted
    slot = model.take(B, LIFE, 0)
    assert slot.why == "calls"
    assert 0 < slot.wait <= life
    later(valkey, life - 0.3)
    until(lambda: model.take(B, LIFE, 0).granted, patience=10, awaited="place of the dead holder")
    assert "tg:{m}:held:a" not in kept(valkey)
    model.settle(A, None, "answered")  # it was only slow: it ends nobody else's
    assert model.take(C, LIFE, 0).why == "calls"


def test_a_short_life_ends_no_longer_one(valkey: Valkey) -> None:
    model = pace(valkey, 2)
    assert model.take(A, LIFE, 0).granted
    assert model.take(B, LIFE / 10, 0).granted
    later(valkey, LIFE / 5)  # B's time is up, A may still be calling
    assert model.take(C, LIFE, 0).granted
    assert model.take(D, LIFE, 0).why == "calls"


def test_places_shrink_with_a_lowered_rate_and_grow_with_it(valkey: Valkey) -> None:
    model = pace(valkey, 4)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, None, "throttled")
    model.give_back(A)
    later(valkey, 2)
    assert model.take(B, LIFE, 0).granted  # it tries
    model.settle(B, None, "answered")
    assert [model.take(caller(f"x{n}"), LIFE, 0).why for n in range(4)] == ["granted"] * 3 + [
        "calls"
    ]
    later(valkey, 160)  # three quarters and 160/600
    assert [model.take(caller(f"y{n}"), LIFE, 0).why for n in range(5)] == ["granted"] * 4 + [
        "calls"
    ]


def test_a_wiped_redis_knows_no_switch_and_grants_nothing(valkey: Valkey) -> None:
    model = pace(valkey)
    assert model.take(A, LIFE, 0).granted
    valkey._do(lambda client: client.flushall())
    assert model.take(A, LIFE, HORIZON).why == "unknown"
    assert kept(valkey) == {}
    later(valkey, 1)
    model.switch(off=False, until=None, turned=False)
    assert model.take(A, LIFE, 0).granted


def test_an_idle_model_asks_for_its_switch_once_a_day(valkey: Valkey) -> None:
    model = pace(valkey)
    later(valkey, KNOWN - 1)
    assert model.take(A, LIFE, 0).granted
    later(valkey, 2)
    assert model.take(B, LIFE, 0).why == "unknown"


def test_ended_calls_leave_nothing_after_a_minute_but_their_outcomes(valkey: Valkey) -> None:
    model = pace(valkey, 9, requests_per_minute=60, tokens_per_minute=6000, burst=60)
    for n, who in enumerate((A, B, C, D)):
        assert model.take(who, LIFE, 0).granted
        if n < 2:
            model.settle(who, 50, "answered" if n else "failed")
        elif n == 2:
            model.give_back(who)  # the last one died
    later(valkey, 60)
    model.take(caller("last"), LIFE, 0)
    model.give_back(caller("last"))
    assert set(kept(valkey)) == {"tg:{m}:pause", "tg:{m}:outcomes"}
    later(valkey, REFUSALS.window)
    assert set(kept(valkey)) == {"tg:{m}:pause"}
