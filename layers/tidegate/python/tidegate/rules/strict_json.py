"""The one JSON parser: for what partners send and for what models answer.

`json.loads` accepts duplicate keys, NaN, lone surrogates and numbers that nothing after it can
hold, and dies of 100 000 nested brackets. Each of these is refused here with where it is.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

MAX_DEPTH = 64
"""Levels of nesting; far above any request or contract, far below Python's recursion limit."""

MAX_INTEGER = 2**53 - 1
"""RFC 8785 (canonical JSON) and RFC 7493 (I-JSON): larger integers do not survive a double."""

# A string, or the rest of the text where one is not closed: without that end the search for one
# would start anew at every quote, in quadratic time. `*+` gives nothing back: there is one reading.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotStrictJson(ValueError):
    """The text is not one strict JSON value; `str()` says why without quoting it."""

    def __init__(self, message: str, code: str = "invalid_json", at: int = 0) -> None:
        super().__init__(message)
        self.code = code
        """What is wrong, by a stable name."""
        self.at = at
        """Character where it is wrong, as far as that is known."""


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
            object_pairs_hook=members,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        code = "trailing_text" if error.msg == "Extra data" else "invalid_json"
        raise NotStrictJson(f"{error.msg} at character {error.pos}", code, error.pos) from None
    # Only these make one, so that most texts are not gone through once more.
    if "\\ud" in text or "\\uD" in text or not text.isascii():
        _check_text(value)
    return value


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object (a parser's `object_pairs_hook`).

    Raises:
        NotStrictJson: one is there twice: which of them counts is a guess.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrictJson("an object has the same member twice", "duplicate_member")
    return found


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    outside = _STRING.sub("", text).encode("utf-8", "surrogatepass")
    depth = 0
    for bracket in outside.translate(None, _NO_BRACKETS):
        if bracket in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise NotStrictJson(f"nested deeper than {MAX_DEPTH} levels", "too_deep")
        else:
            depth -= 1


def _constant(name: str) -> Any:
    raise NotStrictJson(f"{name} is not a JSON number", "not_a_number")


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > MAX_INTEGER:
        message = "an integer is beyond 2^53 - 1; send it as a string"
        raise NotStrictJson(message, "number_out_of_range")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrictJson("a number is too large for a double", "number_out_of_range")
    if number and number.is_integer() and _spelt_out(digits, number) and not _exact(digits, number):
        # Rounded, 1.0000000000000001 would be another kind of number, 9007199254740993.0 another.
        raise NotStrictJson("a number has more digits than a double", "number_out_of_range")
    return number


def _spelt_out(digits: str, number: float) -> bool:
    """Return whether the last digit is meant: nobody means all 301 digits of 1e300."""
    return abs(number) <= MAX_INTEGER + 1 or "e" not in digits.lower()


def _exact(digits: str, number: float) -> bool:
    try:
        return Decimal(digits) == Decimal(number)
    except InvalidOperation:  # an exponent beyond anything
        return False


def _check_text(value: Any) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise NotStrictJson("a string holds half of a surrogate pair", "bad_text")
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_text(name)
            _check_text(member)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)
