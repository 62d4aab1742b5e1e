"""How long a vendor asked to wait: a table of headers."""

from __future__ import annotations

import pytest

from tests.unit.vendor_headers import NOW, Lines, wait_of
from tidegate.vendors.retry_after import MAX_WAIT

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
LATER = "Sun, 06 Nov 1994 08:49:47 GMT"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2.0),
        ("2.5", 2.5),
        ("007", 7.0),
        (" 3 ", 3.0),
        ("\t3\t", 3.0),
        ("0", 0.0),
        ("0.0004", 0.0004),
        ("61", 61.0),
        ("21600", 21_600.0),
        ("2678400", MAX_WAIT),
        # Longer than any job may wait: the longest wait, never a shorter one.
        ("2678401", MAX_WAIT),
        ("1e9", MAX_WAIT),
        ("1e-3", 0.001),
        ("1e999999999999", MAX_WAIT),
        ("9999999999", MAX_WAIT),
        ("1" * 310, MAX_WAIT),
        ("1" * 50_000, MAX_WAIT),
        ("9" * 310 + "s", MAX_WAIT),
        # No number.
        ("-5", None),
        ("-0", None),
        ("+5", None),
        ("NaN", None),
        ("inf", None),
        ("-Infinity", None),
        ("abc", None),
        ("", None),
        ("  ", None),
        (",", None),
        ("5 seconds", None),
        ("1_0", None),
        ("0x10", None),
        ("٣", None),
        ("5\xa0000", None),
        # Durations.
        ("30s", 30.0),
        ("1m30s", 90.0),
        ("30S", 30.0),
        ("5x", None),
        ("s", None),
        # Dates: HTTP's three formats, and what is near them.
        (LATER, 10.0),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10.0),
        ("Sun Nov  6 08:49:47 1994", 10.0),
        ("1994-11-06T08:49:47Z", 10.0),
        ("1994-11-06T09:49:47.5+01:00", 10.5),
        ("1994-11-06t06:19:47-0230", 10.0),
        ("sun, 06 nov 1994 08:49:47 gmt", 10.0),
        ("  Sun, 06 Nov 1994 08:49:47 GMT  ", 10.0),
        ("Sun, 6 Nov 1994 08:49:47 GMT", 10.0),
        ("06 Nov 1994 08:49:47 UTC", 10.0),
        ("Sun, 06 Nov 1994 08:49:47", 10.0),
        ("Sun, 06 Nov 1994 08:49:47 +0000", 10.0),
        ("Mon, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sun, 06 Nov 1994 08:49:60 GMT", 23.0),
        (DATE, 0.0),
        ("Wed, 21 Oct 1992 07:28:00 GMT", 0.0),
        ("Wednesday, 21-Oct-92 07:28:00 GMT", 0.0),
        ("Thu Jan  1 00:00:00 1970", 0.0),
        ("Mon, 01 Jan 0001 00:00:00 GMT", 0.0),
        # Two digits: at most 50 years ahead, or else of the century before.
        ("Sunday, 06-Nov-44 08:49:36 GMT", MAX_WAIT),
        ("Tuesday, 08-Nov-44 08:49:36 GMT", 0.0),
        ("Monday, 06-Nov-45 08:49:36 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_WAIT),
        ("Fri, 31 Dec 10000 23:59:59 GMT", MAX_WAIT),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", MAX_WAIT),
        (f"Fri, 31 Dec {'9' * 5000} 23:59:59 GMT", MAX_WAIT),
        ("+10000-12-31T23:59:59Z", None),
        ("Fri, 31 Dec 0000 23:59:59 GMT", None),
        ("Fri, 32 Dec 99999 23:59:59 GMT", None),
        ("Sun, 99 Nov 1994 08:49:47 GMT", None),
        ("Sun, 31 Jun 1994 08:49:47 GMT", None),
        ("Sun, 06 Foo 1994 08:49:47 GMT", None),
        ("1994-13-06T08:49:47Z", None),
        ("Sun, 06 Nov 1994 24:49:47 GMT", None),
        ("Sun, 06 Nov 1994 08:49:61 GMT", None),
        ("Sun, 06 Nov 1994 08:49:47 +9999999999", None),
        ("Sun, 06 Nov 1994", None),
        # Two lines that a proxy made one.
        ("5, 7", 7.0),
        ("7,5", 7.0),
        ("abc, 7", 7.0),
        (f"{LATER}, 7", 10.0),
        (f"70, {LATER}", 70.0),
        (f"{LATER},Sunday, 06-Nov-94 08:49:57 GMT", 20.0),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_one_retry_after(value: str, expected: float | None) -> None:
    assert wait_of([("Retry-After", value)]) == (
        None if expected is None else pytest.approx(expected, abs=1e-6)
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], None),
        ([("RETRY-AFTER", "2")], 2.0),
        ([("retry-after-ms", "1500")], 1.5),
        ([("Retry-After-Ms", " 20.5 ")], 0.0205),
        ([("x-ms-retry-after-ms", "1500")], 1.5),
        ([("retry-after-ms", "9" * 310)], MAX_WAIT),
        ([("retry-after-ms", "-1")], None),
        ([("retry-after-ms", "1m")], None),
        # Several: the longest.
        ([("retry-after", "2"), ("retry-after", "9"), ("retry-after", "4")], 9.0),
        ([("retry-after", "2"), ("retry-after-ms", "1500")], 2.0),
        ([("retry-after", "1"), ("retry-after-ms", "1500")], 1.5),
        ([("retry-after-ms", "1500"), ("x-ms-retry-after-ms", "60000")], 60.0),
        ([("retry-after", "60"), ("retry-after-ms", "-1")], 60.0),
        ([("retry-after", "60"), ("retry-after-ms", "NaN")], 60.0),
        ([("retry-after", "soon"), ("retry-after-ms", "1500")], 1.5),
        ([("retry-after", "soon"), ("retry-after", "8")], 8.0),
        ([("retry-after", LATER), ("retry-after", "8")], 10.0),
        # Resets: of limits with nothing left, or of which it is not said.
        ([("x-ratelimit-reset-requests", "1m30s")], 90.0),
        ([("x-ratelimit-reset-requests", "6m0s")], 360.0),
        ([("x-ratelimit-reset-requests", "20ms")], 0.02),
        ([("x-ratelimit-reset-requests", "1s")], 1.0),
        ([("X-RateLimit-Reset-Tokens", "1h2m3.5s")], 3723.5),
        ([("x-ratelimit-reset-tokens", "1d")], 86_400.0),
        ([("x-ratelimit-reset", "30")], 30.0),
        ([("x-ratelimit-reset", "-30")], None),
        ([("x-ratelimit-reset", "soon")], None),
        ([("x-rate-limit-reset", "30")], 30.0),
        ([("ratelimit-reset", "30"), ("ratelimit-remaining", "0")], 30.0),
        ([("x-ratelimit-reset", "784111787")], MAX_WAIT),  # before 2001: no moment
        ([("x-ratelimit-reset", "1e310")], MAX_WAIT),
        ([("anthropic-ratelimit-requests-reset", "1994-11-06T08:49:47Z")], 10.0),
        ([("anthropic-ratelimit-tokens-reset", "1994-11-06T08:49:27Z")], 0.0),
        ([("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m0s")], 360.0),
        (
            [
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "9s"),
                ("x-ratelimit-remaining-tokens", "149000"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ],
            9.0,
        ),
        (
            [
                ("anthropic-ratelimit-input-tokens-remaining", "0"),
                ("anthropic-ratelimit-input-tokens-reset", "1994-11-06T08:50:37Z"),
                ("anthropic-ratelimit-requests-remaining", "49"),
                ("anthropic-ratelimit-requests-reset", "1994-11-06T09:49:37Z"),
            ],
            60.0,
        ),
        ([("x-ratelimit-remaining-requests", "3"), ("x-ratelimit-reset-requests", "9s")], None),
        ([("x-ratelimit-remaining-requests", "-1"), ("x-ratelimit-reset-requests", "9s")], 9.0),
        ([("x-ratelimit-remaining-requests", "?"), ("x-ratelimit-reset-requests", "9s")], 9.0),
        ([("x-ratelimit-remaining-requests", "3, 0"), ("x-ratelimit-reset-requests", "9s")], 9.0),
        ([("x-ratelimit-limit-requests", "60"), ("x-ratelimit-remaining-requests", "0")], None),
        # The vendor's own answer is not lengthened to a limit's reset.
        ([("retry-after", "1"), ("x-ratelimit-reset-requests", "1m0s")], 1.0),
        ([("retry-after-ms", "0"), ("x-ratelimit-reset-requests", "1m0s")], 0.0),
        ([("retry-after", "soon"), ("x-ratelimit-reset-requests", "1m0s")], 60.0),
        # Not meant for us.
        ([("x-retry-after-hint", "5"), ("x-reset", "5"), ("retry-afterwards", "5")], None),
    ],
    ids=str,
)
def test_all_headers(lines: Lines, expected: float | None) -> None:
    wanted = None if expected is None else pytest.approx(expected, abs=1e-6)
    assert wait_of(lines) == wanted
    assert wait_of([(name.upper(), value) for name, value in reversed(lines)]) == wanted


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1741305600", 10.0),
        ("1741305600000", 10.0),
        ("1741305500", 0.0),
        ("2025-03-07T00:00:00Z", 10.0),
        ("10", 10.0),
    ],
)
def test_a_reset_may_be_a_moment_in_seconds_or_milliseconds(value: str, expected: float) -> None:
    assert wait_of([("X-RateLimit-Reset", value)], 1_741_305_590.0) == expected


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ([DATE], 10.0),
        (["Sunday, 06-Nov-94 08:49:37 GMT"], 10.0),
        (["Sun Nov  6 08:49:37 1994"], 10.0),
        ([DATE, "Sun, 06 Nov 1994 08:49:27 GMT"], 20.0),
        ([DATE, "yesterday"], 10.0),
    ],
)
@pytest.mark.parametrize("skew", [-1e6, 0.0, 1e6])
def test_a_date_is_relative_to_the_vendors_own_clock(
    dates: list[str], expected: float, skew: float
) -> None:
    lines = [("retry-after", LATER), *(("date", date) for date in dates)]
    assert wait_of(lines, NOW + skew) == expected


@pytest.mark.parametrize("date", ["", "yesterday", "Sun, 06 Nov 10000 08:49:37 GMT"])
def test_without_the_vendors_clock_a_date_is_relative_to_ours(date: str) -> None:
    assert wait_of([("retry-after", LATER), ("date", date)], NOW - 5) == 15
