"""How long a vendor asked to wait."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

MAX_WAIT = 31 * 86_400.0
"""Seconds; no quota is reset less often than monthly, so a longer wait is a mistake."""

_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def seconds(headers: httpx.Headers, now: float) -> float | None:
    """Return the wait in seconds, or None where there is none or it makes no sense.

    Milliseconds (`retry-after-ms`) are the finer statement and win. A date is taken relative to
    the response's own `Date`, so that a wrong clock on either side does not matter.
    """
    precise = _number(headers.get("retry-after-ms", ""))
    if precise is not None and precise / 1000 <= MAX_WAIT:
        return precise / 1000
    value = headers.get("retry-after", "")
    wait = _number(value)
    if wait is None:
        end = _date(value)
        begin = _date(headers.get("date", ""))
        wait = None if end is None else end - (now if begin is None else begin)
    return wait if wait is not None and 0 <= wait <= MAX_WAIT else None


def _number(value: str) -> float | None:
    value = value.strip()
    return float(value) if _NUMBER.fullmatch(value) else None


def _date(value: str) -> float | None:
    try:
        moment: datetime = parsedate_to_datetime(value.strip())
        return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
