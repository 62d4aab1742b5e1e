"""Pauses of a model on a real Redis: one for a wave of refusals, then one probe; the switch."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.contract.paces import LIFE, caller, entry, kept, later, near, pace
from tests.patience import until
from tidegate.clock import SystemClock
from tidegate.doors.pace import COOL_DOWNS, LONGEST_PAUSE, Caller, Pace
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings

A, B, C = (caller(name) for name in "abc")


def refused_again(valkey: Valkey, model: Pace, name: str) -> tuple[float, int]:
    """Return the pause after another call that is made as soon as it may, and refused."""
    wait = model.take(caller(name), LIFE, 0).wait
    later(valkey, wait + 0.5)
    assert model.take(caller(name), LIFE, 0).granted
    pause = model.cool_down(caller(name), None, "throttled")
    model.settle(caller(name), None, "failed")
    return pause


def test_a_refusal_pauses_the_model_as_long_as_was_asked(valkey: Valkey) -> None:
    model = pace(valkey)
    assert model.take(A, LIFE, 0).granted
    assert model.cool_down(A, 20.0, "throttled") == (near(20), 1)
    slot = model.take(B, LIFE, 60)
    assert (slot.why, slot.wait) == ("paused", near(20))


def test_the_latest_of_all_deadlines_counts(valkey: Valkey) -> None:
    model = pace(valkey, 3)
    for who in (A, B, C):
        assert model.take(who, LIFE, 0).granted
    for who, asked, left in ((A, 20.0, 20), (B, 40.0, 40), (C, 3.0, 40)):
        assert model.cool_down(who, asked, "throttled")[0] == near(left)


def test_an_absurd_wait_is_a_day(valkey: Valkey) -> None:
    model = pace(valkey)
    assert model.take(A, LIFE, 0).granted
    assert model.cool_down(A, 1e9, "throttled")[0] == near(LONGEST_PAUSE)


def test_ten_refusals_of_one_wave_are_one_strike(valkey: Valkey) -> None:
    model = pace(valkey, 10)
    wave = [caller(f"w{n}") for n in range(10)]
    assert all(model.take(who, LIFE, 0).granted for who in wave)
    strikes = {model.cool_down(who, None, "throttled")[1] for who in wave}
    assert strikes == {1}
    assert float(model.paused()["factor"]) == 0.75


def test_a_refusal_told_twice_counts_once(valkey: Valkey) -> None:
    model = pace(valkey)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, 5.0, "throttled")
    before = kept(valkey)
    assert model.cool_down(A, 5.0, "throttled")[1] == 1
    assert kept(valkey) == before


def test_each_new_wave_doubles_the_pause_to_its_longest_and_lowers_the_rate(
    valkey: Valkey,
) -> None:
    first, longest = COOL_DOWNS["throttled"]
    model = pace(valkey)
    pauses = [refused_again(valkey, model, f"p{n}") for n in range(11)]
    assert [strikes for _, strikes in pauses] == list(range(1, 12))
    wanted = [min(longest, first * 2**n) for n in range(11)]
    assert [seconds for seconds, _ in pauses] == [near(each) for each in wanted]


def test_the_rate_is_lowered_once_a_wave_and_never_to_nothing(valkey: Valkey) -> None:
    model = pace(valkey)
    factors = []
    for n in range(3):
        refused_again(valkey, model, f"p{n}")
        factors.append(float(model.paused()["factor"]))
    assert factors == [pytest.approx(0.75**n, abs=0.02) for n in (1, 2, 3)]
    for n in range(30):
        model.take(caller(f"q{n}"), LIFE, 0)
        valkey._do(lambda client: client.hset("tg:{m}:pause", "until", "0"))
        assert model.take(caller(f"q{n}"), LIFE, 0).granted
        time.sleep(0.002)  # a call that began after the pause was set
        model.cool_down(caller(f"q{n}"), None, "throttled")
        model.settle(caller(f"q{n}"), None, "failed")
    assert float(model.paused()["factor"]) == 0.05


def _at_once(url: str, callers: list[Caller]) -> list[str]:
    """Return what each is told, who asks through a door of its own as a worker does."""
    ready = Barrier(len(callers))

    def asked(who: Caller) -> str:
        door = Valkey(RedisSettings(url, None, None, ""), None, SystemClock())
        door.get("tg:{m}:any")  # connected before anybody asks
        ready.wait(10)
        try:
            return Pace(door, "m", entry(20)).take(who, LIFE, 0).why
        finally:
            door.close()

    with ThreadPoolExecutor(len(callers)) as threads:
        return list(threads.map(asked, callers))


def test_of_twenty_who_ask_after_a_pause_exactly_one_tries(valkey: Valkey, redis_url: str) -> None:
    model = pace(valkey, 20)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, 5.0, "throttled")
    model.settle(A, None, "failed")
    later(valkey, 6)
    crowd = [caller(f"c{n}") for n in range(20)]
    answers = _at_once(redis_url, crowd)
    assert sorted(answers) == ["granted"] + ["probing"] * 19
    (probe,) = [who for who, why in zip(crowd, answers, strict=True) if why == "granted"]

    assert model.take(probe, LIFE, 0).granted  # its reply was lost
    model.settle(probe, None, "answered")
    others = [who for who in crowd if who != probe]
    # Three quarters of the places, for the rate was lowered.
    assert sorted(_at_once(redis_url, others)) == ["calls"] * 4 + ["granted"] * 15


@pytest.mark.parametrize("end", ["failed", "unused", "refused again"])
def test_after_a_probe_without_an_answer_the_next_one_tries(valkey: Valkey, end: str) -> None:
    model = pace(valkey, 5)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, 5.0, "throttled")
    model.settle(A, None, "failed")
    later(valkey, 6)
    assert model.take(B, LIFE, 0).granted
    if end == "unused":
        model.give_back(B)
    else:
        if end == "refused again":
            assert model.cool_down(B, None, "throttled") == (near(2), 2)
            assert model.take(C, LIFE, 0).why == "paused"
            later(valkey, 3)
        model.settle(B, None, "failed")
    assert model.take(C, LIFE, 0).granted
    assert model.take(caller("d"), LIFE, 0).why == "probing"


def test_an_abandoned_probes_permit_ends_with_its_life(valkey: Valkey) -> None:
    """Its last moments on Redis's own clock: nobody helps it along."""
    life = 4.0
    model = pace(valkey, 5)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, 5.0, "throttled")
    later(valkey, 6)
    assert model.take(B, life, 0).granted
    slot = model.take(C, LIFE, 0)
    assert slot.why == "probing"
    assert 0 < slot.wait <= life
    later(valkey, life - 0.3)
    until(lambda: model.take(C, LIFE, 0).granted, patience=10, awaited="abandoned permit")


def test_a_probe_that_was_only_booked_is_the_next_ones(valkey: Valkey) -> None:
    model = pace(valkey, 5, requests_per_minute=6, burst=20)
    for who in (A, C):
        assert model.take(who, LIFE, 0).granted
    model.cool_down(A, 1.0, "throttled")
    later(valkey, 1.5)
    assert model.take(B, LIFE, 25).why == "booked"
    model.cool_down(C, 1.0, "throttled")  # of the same wave, told late
    assert model.take(B, LIFE, 25).why == "paused"
    later(valkey, 1.5)
    assert model.take(caller("d"), LIFE, 25).why == "booked"


def test_an_answer_to_a_call_of_before_the_pause_does_not_end_it(valkey: Valkey) -> None:
    model = pace(valkey, 5)
    assert model.take(A, LIFE, 0).granted
    assert model.take(B, LIFE, 0).granted
    model.cool_down(A, 5.0, "throttled")
    model.settle(B, None, "answered")
    assert model.take(C, LIFE, 0).why == "paused"
    assert model.paused()["strikes"] == "1"


def test_a_booking_is_given_back_where_a_pause_comes_between(valkey: Valkey) -> None:
    model = pace(valkey, 5, requests_per_minute=6, burst=0)
    assert model.take(A, LIFE, 0).granted
    before = kept(valkey)["tg:{m}:requests"]
    assert model.take(B, LIFE, 25).why == "booked"
    model.cool_down(A, 60.0, "throttled")
    assert model.take(B, LIFE, 25).why == "paused"
    assert kept(valkey)["tg:{m}:requests"] == before
    assert "tg:{m}:held:b" not in kept(valkey)


def test_a_booking_with_others_behind_it_is_not_given_away_twice(valkey: Valkey) -> None:
    model = pace(valkey, 5, requests_per_minute=6, burst=0)
    assert model.take(A, LIFE, 0).granted
    for who in (B, C):
        assert model.take(who, LIFE, 25).why == "booked"
    before = kept(valkey)["tg:{m}:requests"]
    model.cool_down(A, 60.0, "throttled")
    assert model.take(B, LIFE, 25).why == "paused"
    assert kept(valkey)["tg:{m}:requests"] == before


def test_an_account_in_trouble_pauses_longer_and_lowers_no_rate(valkey: Valkey) -> None:
    model = pace(valkey)
    assert model.take(A, LIFE, 0).granted
    assert model.cool_down(A, None, "account") == (near(60), 1)
    model.settle(A, None, "failed")
    assert model.take(B, LIFE, 0).why == "account"
    assert float(model.paused().get("factor", 1)) == 1
    pauses = []
    for n in range(5):
        later(valkey, model.take(B, LIFE, 0).wait + 0.5)
        assert model.take(caller(f"p{n}"), LIFE, 0).granted
        pauses.append(model.cool_down(caller(f"p{n}"), None, "account")[0])
    assert pauses == [near(each) for each in (120, 240, 480, 900, 900)]
