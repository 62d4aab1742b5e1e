"""How long a vendor asked to wait: the one place that knows the headers which say so.

Two groups of headers say it, and the first is the vendor's own answer to the question:

1. `retry-after`, `retry-after-ms`, `x-ms-retry-after-ms`. The longest of all that can be read
   counts, over all lines, so no header can shorten the wait that another one asks for.
2. Only where group 1 says nothing: the resets of the vendor's limits (`x-ratelimit-reset-tokens`,
   `anthropic-ratelimit-requests-reset`, ...). A reset is when a limit is whole again, mostly
   later than the next call would be let in; beside a `retry-after` of one second it would cost a
   minute. Only a limit with nothing remaining, or of which it is not said, can be why a call was
   refused; the longest of those counts. With something left of every limit, none of them is the
   reason, nothing was asked for, and the caller backs off as it sees fit. (A limit per day has a
   reset hours ahead as soon as one call is used.)

A value that is no number, duration or date is as if it were not there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

import httpx

from tidegate.vendors.moments import duration, moment, number

MAX_WAIT = 31 * 86_400.0
"""Seconds; a longer wait counts as this one, which is past every job's deadline: no quota is reset
less often than monthly. It is not dropped, or the job would try again at once."""

_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")
_LIMIT = re.compile(r"rate-?limit")
_RESET_WORD = re.compile(r"\breset\b")

_EPOCH = 1e9
"""A reset of more seconds is not a wait but a moment since the epoch (this one is in 2001) ..."""
_EPOCH_MS = 1e11
"""... and from here on it counts milliseconds (this one is in 1973), as OpenRouter's does."""

# Lines of one header may come joined by commas (RFC 9110 §5.3), but a date has a comma of its own.
_JOINT = re.compile(r"(?<!sun|mon|tue|wed|thu|fri|sat|day),", re.IGNORECASE)


def seconds(headers: httpx.Headers, now: float) -> float | None:
    """Return the seconds a vendor asked to wait, from 0 to `MAX_WAIT`, or None if it did not.

    A date is taken relative to the response's own `Date`, so that a wrong clock on either side
    does not matter; one that has passed asks for no wait, which is 0.

    Args:
        headers: of the response, of any status.
        now: seconds since the epoch, for a response without a `Date`.
    """
    dates = (moment(value, now) for value in _values(headers, "date"))
    # Of several, the earliest: it makes the longest wait.
    begin = min((date for date in dates if date is not None and date < math.inf), default=now)
    asked = list(_explicit(headers, begin)) or list(_resets(headers, begin))
    return min(max(0.0, *asked), MAX_WAIT) if asked else None


def _explicit(headers: httpx.Headers, begin: float) -> Iterator[float]:
    yield from _read(headers, "retry-after", lambda value: _wait(value, begin))
    for name in _MILLISECONDS:
        yield from (wait / 1000 for wait in _read(headers, name, number))


def _resets(headers: httpx.Headers, begin: float) -> Iterator[float]:
    for name in headers.keys():  # noqa: SIM118 - an httpx.Headers lists each name once this way
        if _is_reset(name) and not _something_left(headers, name):
            yield from _read(headers, name, lambda value: _reset(value, begin))


def _is_reset(name: str) -> bool:
    # In two steps, each of which reads the name once: a name may be as long as all headers may.
    limit = _LIMIT.search(name)
    return limit is not None and _RESET_WORD.search(name, limit.end()) is not None


def _something_left(headers: httpx.Headers, reset: str) -> bool:
    values = _values(headers, _RESET_WORD.sub("remaining", reset))
    left = [number(value) for value in values]
    return bool(left) and all(count is not None and count > 0 for count in left)


def _reset(value: str, begin: float) -> float | None:
    wait = _wait(value, begin)
    if wait is None or wait < _EPOCH or number(value) is None:
        return wait
    return (wait if wait < _EPOCH_MS else wait / 1000) - begin


def _wait(value: str, begin: float) -> float | None:
    wait = number(value)
    if wait is None:
        wait = duration(value)
    if wait is None:
        end = moment(value, begin)
        wait = None if end is None else end - begin
    return wait


def _read(
    headers: httpx.Headers, name: str, read: Callable[[str], float | None]
) -> Iterator[float]:
    waits = (read(value) for value in _values(headers, name))
    return (wait for wait in waits if wait is not None)


def _values(headers: httpx.Headers, name: str) -> list[str]:
    return [value for line in headers.get_list(name) for value in _JOINT.split(line)]
