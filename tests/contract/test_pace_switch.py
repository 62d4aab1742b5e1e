"""An operator's switch on a real Redis: off is off, and an older state undoes no newer one."""

from __future__ import annotations

import time

from tests.contract.paces import LIFE, caller, later, near, pace
from tidegate.doors.valkey import Valkey

A, B, C = (caller(name) for name in "abc")


def test_a_model_that_is_switched_off_grants_nothing_until_it_is_resumed(valkey: Valkey) -> None:
    model = pace(valkey, 5)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, 50.0, "throttled")
    model.settle(A, None, "failed")
    model.switch(off=True, until=None, turned=True, at=1.0)
    later(valkey, 3600)
    assert model.take(B, LIFE, 60).why == "switched_off"
    model.cool_down(A, 50.0, "throttled")
    model.switch(off=False, until=None, turned=True, at=2.0)  # ends the cool-down, too
    assert [model.take(who, LIFE, 0).why for who in (B, C)] == ["granted", "granted"]


def test_a_switch_that_is_only_made_known_ends_no_cool_down(valkey: Valkey) -> None:
    model = pace(valkey)
    assert model.take(A, LIFE, 0).granted
    model.cool_down(A, 50.0, "throttled")
    model.switch(off=False, until=None, turned=False)
    assert model.take(B, LIFE, 0).why == "paused"


def test_who_comes_late_with_an_older_switch_changes_nothing(valkey: Valkey) -> None:
    model = pace(valkey)
    model.switch(off=True, until=None, turned=True, at=20.0)
    model.switch(off=False, until=None, turned=False, at=10.0)
    assert model.take(A, LIFE, 0).why == "switched_off"


def test_a_pause_with_an_end_ends_by_itself(valkey: Valkey) -> None:
    model = pace(valkey)
    model.switch(off=True, until=time.time() + 100, turned=True)
    slot = model.take(A, LIFE, 60)
    assert (slot.why, slot.wait) == ("switched_off", near(100))
    later(valkey, 103)
    assert model.take(A, LIFE, 0).granted
