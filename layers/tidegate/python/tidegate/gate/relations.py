"""How places of an answer must relate to each other, or to numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from tidegate.rules.contracts import Relation
from tidegate.rules.paths import MAX_POINTER, Path, found, parse, rest, shared

_WORDS = {
    "less": "less than",
    "at_most": "at most",
    "greater": "greater than",
    "at_least": "at least",
    "equal": "equal to",
    "sum_of": "the sum of",
}

_EXACT = Context(prec=700, traps=[])
"""The digits of doubles stand between 10^308 and 10^-324, so 633 of them hold any sum of two. The
other 67 are for sums of more: nothing in memory has so many terms. Nothing is ever rounded."""

_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_MOMENT = re.compile(
    _DATE + r"(?:[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9])))?"
)
_MINUTES_A_DAY = 1440


@dataclass(frozen=True, slots=True)
class _Side:
    """A value that others are compared with, read once."""

    value: Any
    kind: str | None
    """What it can be put in order with: None for nothing."""
    order: Any


@dataclass(frozen=True, slots=True)
class _Paths:
    """A relation's paths: `left` and `right` are followed from each place of `both`."""

    both: Path
    left: Path
    right: Path | None


def broken(relations: Sequence[Relation], value: Any, most: int) -> tuple[tuple[str, str], ...]:
    """Return (JSON pointer, message) of places where a value breaks a relation, `most` at most.

    Where a side is absent or null, nothing is said: whether it must be there is the schema's
    business. Messages name paths of the catalogue and quote no value. The time is linear in the
    size of the value.
    """
    return tuple(islice(chain.from_iterable(_places(each, value) for each in relations), most))


def _places(relation: Relation, value: Any) -> Iterator[tuple[str, str]]:
    other = relation.other if isinstance(relation.other, str) else None
    paths = _paths(relation.path, other)
    for above, element in found(paths.both, value):
        for pointer, message in _within(relation, paths, element):
            yield (above + pointer)[:MAX_POINTER], message


@lru_cache(maxsize=512)
def _paths(path: str, other: str | None) -> _Paths:
    left = parse(path)
    if other is None:
        return _Paths(Path(()), left, None)
    right = parse(other)
    both = shared(left, right)
    return _Paths(both, rest(left, both), rest(right, both))


def _within(relation: Relation, paths: _Paths, element: Any) -> Iterator[tuple[str, str]]:
    lefts = [(at, left) for at, left in found(paths.left, element) if left is not None]
    if not lefts:
        return
    if paths.right is None:
        right = _side(relation.other)
    elif relation.is_ == "sum_of":
        total = Decimal(0)
        for at, addend in found(paths.right, element):
            number = _number(addend)
            if number is None:
                yield at, f"is no number that {relation.path} could be the sum of"
                return
            total = _EXACT.add(total, number)
        right = _Side(None, "number", total)
    else:
        right = _side(next((other for _, other in found(paths.right, element)), None))
        if right.value is None:
            return
    for at, left in lefts:
        message = _message(relation, _side(left), right)
        if message is not None:
            yield at, message


def _message(relation: Relation, left: _Side, right: _Side) -> str | None:
    if left.kind is not None and left.kind == right.kind:
        holds = _in_order(relation, left, right)
    elif relation.is_ == "equal":
        holds = _same(left.value, right.value)
    else:
        return f"cannot be compared with {relation.other}"
    return None if holds else f"must be {_WORDS[relation.is_]} {relation.other}"


def _in_order(relation: Relation, left: _Side, right: _Side) -> bool:
    allowed = Decimal(0)
    if left.kind == "number":
        difference = _EXACT.subtract(left.order, right.order)
        allowed = Decimal(repr(relation.tolerance))
    else:
        difference = Decimal((left.order > right.order) - (left.order < right.order))
    match relation.is_:
        case "less":
            return difference < 0
        case "at_most":
            return difference <= allowed
        case "greater":
            return difference > 0
        case "at_least":
            return difference >= allowed.copy_negate()
        case "equal" | "sum_of":
            return difference.copy_abs() <= allowed


def _side(value: Any) -> _Side:
    number = _number(value)
    if number is not None:
        return _Side(value, "number", number)
    moment = _moment(value) if isinstance(value, str) else None
    return _Side(value, *(moment or (None, None)))


def _number(value: Any) -> Decimal | None:
    """Return a JSON number as the decimal that its shortest text says; partners get that text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # strict_json lets nothing else through; a NaN is in no range either.
    if not -sys.float_info.max <= value <= sys.float_info.max:
        return None
    return Decimal(repr(value))


def _moment(text: str) -> tuple[str, Any] | None:
    """Return ("date", day) or ("moment", its order) of an RFC 3339 text, else None."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    # The calendar repeats every 400 years; `date` lacks the year 0, which RFC 3339 has.
    cycles, year = divmod(year, 400)
    try:
        days = date(2000 + year, month, day).toordinal() + 146_097 * cycles
    except ValueError:
        return None
    if match[4] is None:
        return "date", days
    minutes = days * _MINUTES_A_DAY + int(match[4]) * 60 + int(match[5])
    if match[8] is not None:
        minutes -= int(match[8] + "1") * (int(match[9]) * 60 + int(match[10]))
    if match[6] == "60" and minutes % _MINUTES_A_DAY != _MINUTES_A_DAY - 1:
        return None  # leap seconds end a day of UTC
    # Digits of a fraction are in order as text is, once its trailing zeros are gone.
    return "moment", (minutes, match[6], (match[7] or "").rstrip("0"))


def _same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal: 1 and 1.0 are, true and 1 are not."""
    pairs = [(left, right)]
    while pairs:
        ours, theirs = pairs.pop()
        if isinstance(ours, dict) and isinstance(theirs, dict):
            if ours.keys() != theirs.keys():
                return False
            pairs.extend((member, theirs[name]) for name, member in ours.items())
        elif isinstance(ours, list) and isinstance(theirs, list):
            if len(ours) != len(theirs):
                return False
            pairs.extend(zip(ours, theirs, strict=True))
        elif (number := _number(ours)) is not None:
            if number != _number(theirs):
                return False
        elif type(ours) is not type(theirs) or ours != theirs:
            return False
    return True
