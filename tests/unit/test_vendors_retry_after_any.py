"""What holds for the wait of any headers at all."""

from __future__ import annotations

import math
from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vendor_headers import (
    ANY_LINES,
    ASCTIME,
    IMF,
    MOMENTS,
    RFC_850,
    Lines,
    asked,
    spelled,
    wait_of,
)
from tidegate.vendors.retry_after import MAX_WAIT


@given(lines=ANY_LINES, now=MOMENTS)
def test_any_headers_are_none_or_a_wait_within_the_bounds(lines: Lines, now: int) -> None:
    wait = wait_of(lines, float(now))
    assert wait is None or (math.isfinite(wait) and 0 <= wait <= MAX_WAIT)


@given(
    st.lists(asked(), min_size=1, max_size=5),
    ANY_LINES,
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_no_header_shortens_the_wait_that_another_one_asks_for(
    explicit: list[tuple[str, str, float]], others: Lines, random: Random, joined: bool
) -> None:
    lines = [(name, value) for name, value, _ in explicit]
    if joined:
        names = {name for name, _ in lines}
        lines = [(name, ", ".join(v for n, v in lines if n == name)) for name in sorted(names)]
    # A `Date` is no wait: it says what the dates beside it mean.
    lines += [(name, value) for name, value in others if name != "date"]
    random.shuffle(lines)
    wait = wait_of(lines)
    assert wait is not None
    assert wait >= max(min(wanted, MAX_WAIT) for _, _, wanted in explicit) - 0.001


@given(st.lists(asked(), min_size=1, max_size=5))
def test_the_wait_is_not_longer_than_the_longest_that_was_asked_for(
    explicit: list[tuple[str, str, float]],
) -> None:
    wait = wait_of([(name, value) for name, value, _ in explicit])
    assert wait is not None
    assert wait <= max(0.0, *(wanted for _, _, wanted in explicit)) + 0.001


@given(
    now=st.integers(0, 200_000_000_000),
    ahead=st.integers(-49 * 31_556_952, 49 * 31_556_952) | st.integers(0, int(MAX_WAIT)),
    clock=st.sampled_from([None, IMF, RFC_850, ASCTIME]),
)
def test_the_three_formats_of_a_date_say_the_same(now: int, ahead: int, clock: str | None) -> None:
    date = [] if clock is None else [("date", spelled(now, clock))]
    waits = {
        wait_of([("retry-after", spelled(now + ahead, form)), *date], float(now))
        for form in (IMF, RFC_850, ASCTIME)
    }
    assert waits == {min(max(float(ahead), 0.0), MAX_WAIT)}


@given(now=st.integers(0, 200_000_000_000), far=st.timedeltas(timedelta(0), timedelta(18_262)))
def test_two_digits_of_a_year_are_never_a_century_early(now: int, far: timedelta) -> None:
    value = spelled(now + far.total_seconds(), RFC_850)
    wait = wait_of([("retry-after", value)], float(now))
    assert wait is not None
    assert wait >= min(far.total_seconds(), MAX_WAIT) - 1
