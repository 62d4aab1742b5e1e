"""The one JSON parser: for what partners send and for what models answer.

`json.loads` accepts duplicate keys, NaN, lone surrogates and numbers that nothing after it can
hold, and dies of 100 000 nested brackets. Each of these is refused here with where it is.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_DEPTH = 64
"""Levels of nesting; far above any request or contract, far below Python's recursion limit."""

MAX_INTEGER = 2**53 - 1
"""RFC 8785 (canonical JSON) and RFC 7493 (I-JSON): larger integers do not survive a double."""

# A string, or the rest of the text where one is not closed: without that end the search for one
# would start anew at every quote, in quadratic time.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotStrictJson(ValueError):
    """The text is not one strict JSON value; `str()` says why without quoting it."""


def loads(raw: bytes | str) -> Any:
    """Return the one JSON value in `raw`.

    Raises:
        NotStrictJson: not UTF-8, not JSON, trailing text, duplicate keys, NaN or Infinity,
            a number out of range, a lone surrogate, or nesting over `MAX_DEPTH`.
    """
    if isinstance(raw, bytes):
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotStrictJson(f"not UTF-8 at byte {error.start}") from None
    else:
        text = raw
    if not text.strip(" \t\r\n"):
        raise NotStrictJson("empty")
    _check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        raise NotStrictJson(f"{error.msg} at character {error.pos}") from None
    _check_text(value)
    return value


def _check_depth(text: str) -> None:
    depth = 0
    for character in _STRING.sub('""', text):
        if character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise NotStrictJson(f"nested deeper than {MAX_DEPTH} levels")
        elif character in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotStrictJson("an object has the same member twice")
    return members


def _constant(name: str) -> Any:
    raise NotStrictJson(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > MAX_INTEGER:
        raise NotStrictJson("an integer is beyond 2^53 - 1; send it as a string")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrictJson("a number is too large for a double")
    return number


def _check_text(value: Any) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise NotStrictJson("a string holds half of a surrogate pair")
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_text(name)
            _check_text(member)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)
