from __future__ import annotations

import httpx
import pytest

from tidegate.vendors.retry_after import seconds

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2.0),
        ("2.5", 2.5),
        (" 3 ", 3.0),
        ("0", 0.0),
        ("21600", 21600.0),
        ("-5", None),
        ("+5", None),
        ("1e9", None),
        ("9999999999", None),
        ("1" * 310, None),
        ("NaN", None),
        ("inf", None),
        ("abc", None),
        ("", None),
        ("1_0", None),
        ("\u0663", None),
        ("5, 7", None),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10.0),
        ("Sun Nov  6 08:49:47 1994", 10.0),
        ("Wed, 21 Oct 1992 07:28:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None),
        ("Fri, 31 Dec 10000 23:59:59 GMT", None),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", None),
        ("Sun, 99 Nov 1994 08:49:47 GMT", None),
        ("Sun, 06 Nov 1994 08:49:47 +9999999999", None),
    ],
)
def test_seconds_and_dates(value: str, expected: float | None) -> None:
    headers = httpx.Headers([(b"Retry-After", value.encode())])
    assert seconds(headers, NOW) == expected


def test_no_header_is_no_wait() -> None:
    assert seconds(httpx.Headers(), NOW) is None


def test_milliseconds_win() -> None:
    assert seconds(httpx.Headers({"retry-after": "60", "Retry-After-Ms": "1500"}), NOW) == 1.5


@pytest.mark.parametrize("nonsense", ["-1", "x", "NaN", "9" * 15])
def test_senseless_milliseconds_leave_the_seconds(nonsense: str) -> None:
    headers = httpx.Headers({"retry-after": "60", "retry-after-ms": nonsense})
    assert seconds(headers, NOW) == 60


def test_a_date_is_relative_to_the_vendors_own_clock() -> None:
    headers = httpx.Headers({"retry-after": "Sun, 06 Nov 1994 08:49:47 GMT", "date": DATE})
    assert seconds(headers, NOW + 1e6) == 10
    assert seconds(headers, NOW - 1e6) == 10
