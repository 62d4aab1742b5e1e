"""Condition expressions as functions: the part of DynamoDB's language that Tidegate writes.

Grammar: `or` of `and` of terms; a term is `NOT term`, `( ... )`, `attribute_exists(#a)`,
`attribute_not_exists(#a)` or `#a <op> :v`. As in DynamoDB a comparison with an attribute that is
not there, or is of another type, is false (and `<>` is true).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

Values = Mapping[str, Any]
Condition = Callable[[Values, Values], bool]
"""Of an item (empty: none there) and the expression's values."""

_TOKEN = re.compile(r"\s*(<>|<=|>=|[()<>=]|[#:]?\w+)")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ABSENT = object()


@cache
def compiled(text: str) -> Condition:
    """Return a condition as a function.

    Raises:
        ValueError: it uses more of the language than is known here.
    """
    if not text:
        return lambda _item, _values: True
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"unknown condition: {text}")
        tokens.append(match[1])
        at = match.end()
    condition = _either(tokens)
    if tokens:
        raise ValueError(f"unknown condition: {text}")
    return condition


def _either(tokens: list[str]) -> Condition:
    terms = [_both(tokens)]
    while tokens and tokens[0] == "OR":
        tokens.pop(0)
        terms.append(_both(tokens))
    if len(terms) == 1:
        return terms[0]
    return lambda item, values: any(term(item, values) for term in terms)


def _both(tokens: list[str]) -> Condition:
    terms = [_term(tokens)]
    while tokens and tokens[0] == "AND":
        tokens.pop(0)
        terms.append(_term(tokens))
    if len(terms) == 1:
        return terms[0]
    return lambda item, values: all(term(item, values) for term in terms)


def _term(tokens: list[str]) -> Condition:
    word = tokens.pop(0)
    if word == "NOT":
        inner = _term(tokens)
        return lambda item, values: not inner(item, values)
    if word == "(":
        inner = _either(tokens)
        _expect(tokens, ")")
        return inner
    if word.startswith("attribute_"):
        _expect(tokens, "(")
        name = tokens.pop(0).lstrip("#")
        _expect(tokens, ")")
        if word == "attribute_exists":
            return lambda item, _values: name in item
        return lambda item, _values: name not in item
    name, op, value = word.lstrip("#"), tokens.pop(0), tokens.pop(0)
    if not value.startswith(":"):
        raise ValueError(f"unknown operand: {value}")
    return _comparison(name, op, value)


def _comparison(name: str, op: str, value: str) -> Condition:
    if op == "=":
        return lambda item, values: item.get(name, _ABSENT) == values[value]
    if op == "<>":
        return lambda item, values: item.get(name, _ABSENT) != values[value]
    compare = _COMPARE[op]

    def holds(item: Values, values: Values) -> bool:
        there, wanted = item.get(name, _ABSENT), values[value]
        return type(there) is type(wanted) and compare(there, wanted)

    return holds


def _expect(tokens: list[str], token: str) -> None:
    if not tokens or tokens.pop(0) != token:
        raise ValueError(f"a condition lacks {token}")
