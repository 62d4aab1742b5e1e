"""Reading one number, duration or date out of a header; anything else is None, never an error."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = r"([0-9]+(?:\.[0-9]+)?)(d|h|ms|m|s)"
_PARTS = re.compile(_PART)
_DURATION = re.compile(rf"(?:{_PART})+")

_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]+)?)"
_ZONE = r"(?:gmt|utc|z|(?P<sign>[+-])(?P<east>[0-9]{2}):?(?P<east_minute>[0-9]{2}))?"
_MONTH = r"(?P<month>[a-z]{3})"
_DATES = (
    # IMF-fixdate `Sun, 06 Nov 1994 08:49:37 GMT`, RFC 850 `Sunday, 06-Nov-94 08:49:37 GMT`.
    re.compile(
        rf"(?:[a-z]+,? +)?(?P<day>[0-9]{{1,2}})[ -]{_MONTH}[ -]"
        rf"(?P<year>[0-9]{{2}}|[0-9]{{4,}}) +{_TIME} *{_ZONE}"
    ),
    # asctime `Sun Nov  6 08:49:37 1994`.
    re.compile(rf"(?:[a-z]+ +)?{_MONTH} +(?P<day>[0-9]{{1,2}}) +{_TIME} +(?P<year>[0-9]{{4,}})"),
    # RFC 3339 `1994-11-06T08:49:37Z`.
    re.compile(
        rf"(?P<year>[0-9]{{4,}})-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})[t ]{_TIME} *{_ZONE}"
    ),
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_HALF_CENTURY = 18_263 * 86_400.0
"""Seconds of the longest 50 years; of two centuries in doubt, the later is the longer wait."""


def number(text: str) -> float | None:
    """Return a number that is not negative; of any number of digits, so it may be infinite."""
    text = text.strip().lower()
    return float(text) if _NUMBER.fullmatch(text) else None


def duration(text: str) -> float | None:
    """Return the seconds of `1h2m3.5s`, `6m0s` or `20ms`; they may be infinite.

    OpenAI writes its resets so (platform.openai.com/docs/guides/rate-limits).
    """
    text = text.strip().lower()
    if not _DURATION.fullmatch(text):
        return None
    return sum(float(count) * _UNITS[unit] for count, unit in _PARTS.findall(text))


def moment(text: str, now: float) -> float | None:
    """Return the seconds since the epoch of a date in one of HTTP's three formats, or RFC 3339.

    The name of the day is not checked (RFC 9110 §5.6.7 asks for no check), and a date without a
    zone is UTC. A year of five digits and more is infinitely late.

    Args:
        text: the date.
        now: seconds since the epoch, which decides the century of a year of two digits.
    """
    text = text.strip().lower()
    for form in _DATES:
        if match := form.fullmatch(text):
            return _since_epoch(match.groupdict(), now)
    return None


def _since_epoch(part: dict[str, str | None], now: float) -> float | None:
    year = part["year"] or ""
    try:
        if len(year) > 2:
            return _at(part, year.lstrip("0"))
        # The latest year that ends so and is no more than 50 years ahead (RFC 9110 §5.6.7).
        latest = datetime.fromtimestamp(now, UTC).year + 50
        likely = latest - (latest - int(year)) % 100
        found = _at(part, str(likely))
        return found if found <= now + _HALF_CENTURY else _at(part, str(likely - 100))
    except (ValueError, OverflowError, OSError):  # a 31st of June, a 25th hour, a month "foo"
        return None


def _at(part: dict[str, str | None], year: str) -> float:
    month = part["month"] or ""
    day, hour, minute = (int(part[name] or 0) for name in ("day", "hour", "minute"))
    second = float(part["second"] or 0)
    # `datetime` knows no leap second and ends with 9999: the one is added, and a later year is
    # checked as if it were a leap year.
    if second >= 61:
        raise ValueError("no such second")
    far = len(year) > 4
    begin = datetime(
        2000 if far else int(year),
        int(month) if month.isdecimal() else _MONTHS.index(month) + 1,
        day,
        hour,
        minute,
        tzinfo=UTC,
    ).timestamp()
    return math.inf if far else begin + second - _east(part)


def _east(part: dict[str, str | None]) -> float:
    if not part.get("sign"):
        return 0.0
    east = int(part["east"] or 0) * 3_600.0 + int(part["east_minute"] or 0) * 60.0
    return -east if part["sign"] == "-" else east
