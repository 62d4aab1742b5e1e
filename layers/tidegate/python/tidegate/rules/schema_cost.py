"""How much work a schema makes of one value.

The validator's time grows with the value and with what each of its places is held against. The
first is bounded by the length of an answer; here is the second, for schemas of strangers. A step
is about 10 ns for a place, or for a character where there are patterns; measured, not guessed, and
the numbers below with it. Comparing decimals is slow, as it is exact; and a list of whole numbers
is slow where a decimal is held against it. Whoever uses `unevaluatedProperties` has every part
that speaks of the same value checked again, and so on below: this doubles with every level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tidegate.rules.subschemas import DEFINITIONS, SAME_VALUE, children

MAX_COST = 10**9
"""Where counting ends: nothing that is counted further would be accepted."""

_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_BOUND = 40
_DECIMAL = 150
_WHOLE = 20
"""A number in `enum` or `const` where no decimal gets past the `type` beside it."""
_OPTION = 5
"""Of an `enum` that has not only strings."""
_PATTERN = 400
_FORMAT = 20
_UNIQUE = 40
_UNEVALUATED = 10

_OWN = {
    "format": _FORMAT,
    "pattern": _PATTERN,
    "unevaluatedItems": _UNEVALUATED,
    "unevaluatedProperties": _UNEVALUATED,
}

_ONE_OF_THEM = frozenset({"properties", "prefixItems"})
"""Each place of a value meets at most one of the schemas in these."""


class _Work(NamedTuple):
    here: int = 0
    """Steps for the value itself."""
    below: int = 0
    """Steps for any one place in it, at most."""

    def and_(self, other: _Work) -> _Work:
        return _Work(min(self.here + other.here, MAX_COST), min(self.below + other.below, MAX_COST))


class _Both(NamedTuple):
    check: _Work
    marks: _Work
    """For finding out which members a schema has looked at."""


def cost(schema: Mapping[str, Any]) -> int:
    """Return the steps for any one place of a value, at most; counted up to `MAX_COST`.

    The schema must be usable (`json_schema.problem`) and closed, each `$ref` in it lead to a
    definition at its top, and none to itself.
    """
    return max(_Counting(schema).of(schema).check)


@dataclass(slots=True)
class _Counting:
    root: Mapping[str, Any]
    known: dict[str, _Both] = field(default_factory=dict)
    """By `$ref`."""

    def of(self, schema: Any) -> _Both:
        if not isinstance(schema, Mapping):
            return _Both(_Work(1), _Work())
        check = _Work(sum(_own(word, schema) for word in schema) or 1)
        # Once more for each name in the value, and for each item.
        names = _Work(below=_PATTERN * len(schema.get("patternProperties", ())))
        items = _Work(below=_UNIQUE if schema.get("uniqueItems") is True else 0)
        check, marks, same, most = check.and_(names).and_(items), names, [], 0
        for child in children(schema):
            if child.word in DEFINITIONS:
                continue
            part = self.of(child.schema)
            place = _Work(below=max(part.check))
            if child.word in SAME_VALUE:
                same.append(part)
            elif child.word in _ONE_OF_THEM:
                most = max(most, place.below)
            else:
                check = check.and_(place)
                marks = marks.and_(place) if child.word == "contains" else marks
        check = check.and_(_Work(below=most))
        if isinstance(schema.get("$ref"), str):
            same.append(self._target(schema["$ref"]))
        for part in same:
            check = check.and_(part.check)
            marks = marks.and_(part.check).and_(part.marks)
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            check = check.and_(marks)
        return _Both(check, marks)

    def _target(self, reference: str) -> _Both:
        if reference not in self.known:
            _, word, name = reference.split("/", 2)
            self.known[reference] = self.of(self.root[word][name])
        return self.known[reference]


def _own(word: str, schema: Mapping[str, Any]) -> int:
    """Return the steps that a keyword makes at the place its schema is for."""
    value = schema[word]
    if word in _BOUNDS:
        return _BOUND if isinstance(value, int) else _DECIMAL
    if word == "const" or (word == "enum" and isinstance(value, list)):
        options = value if word == "enum" else [value]
        if all(isinstance(option, str) for option in options):
            return 1
        whole = all(isinstance(option, int | str | None) for option in options)
        number = _WHOLE if whole and "number" not in schema.get("type", "number") else _DECIMAL
        return sum(number if _holds_number(option) else _OPTION for option in options)
    return _OWN.get(word, 1)


def _holds_number(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_holds_number, value))
    if isinstance(value, Mapping):
        return any(map(_holds_number, value.values()))
    return isinstance(value, int | float) and not isinstance(value, bool)
