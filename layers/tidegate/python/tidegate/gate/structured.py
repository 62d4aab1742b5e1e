"""What an answer in JSON must be: one strict value, of its schemas, true to itself and to our data.

References are looked up last, and only for what holds otherwise: what fails anyway costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from tidegate.gate.contract import violations
from tidegate.gate.extract import json_value
from tidegate.gate.reason import MAX_REASONS, Reason
from tidegate.gate.relations import broken
from tidegate.rules.canonical import canonical
from tidegate.rules.catalogue import Entry
from tidegate.rules.contracts import Contract, Reference
from tidegate.rules.paths import found, parse
from tidegate.rules.strict_json import MAX_INTEGER, NotStrictJson

Known = Callable[[str, frozenset[str]], frozenset[str]]
"""Returns which of these are members of a set; raises `ReferencesUnavailable` if nobody knows."""

MOST_REFERENCES = 1000
"""Different members of one set that one answer may name: ten requests to the reference table."""

LONGEST_OF_A_REQUEST = 131_072
"""Characters of an answer that is held against a partner's own schema: the worst schema that is
accepted, and an answer made for it, then take some seconds (rules/schema_cost.py), not minutes."""

LONGEST_MEMBER = 1024
"""Bytes: a sort key of DynamoDB has no more, so a longer one cannot be a member."""


_NUL = "\\u0000"
"""The one way to write it in JSON."""


class Unfit(Exception):
    """The answer fails; says why."""

    def __init__(self, reasons: Iterable[Reason]) -> None:
        super().__init__("the answer fails")
        self.reasons = tuple(islice(reasons, MAX_REASONS))


def checked(
    text: str, contract: Contract | None, response_schema: dict[str, Any] | None, known: Known
) -> Any:
    """Return the JSON value of an answer, with whole numbers as integers.

    Raises:
        Unfit: it fails.
        ContractUnusable: a schema is wrong; no answer's fault.
        ReferencesUnavailable: what it refers to could not be looked up; no answer's fault.
    """
    if response_schema is not None and len(text) > LONGEST_OF_A_REQUEST:
        message = f"an answer to a response_schema has at most {LONGEST_OF_A_REQUEST} characters"
        raise Unfit([Reason("too_long", "", message)])
    value = read(text, fenced=contract is not None and contract.fenced)
    _refuse(_of_schemas(value, contract, response_schema))
    if contract is not None:
        places = broken(contract.relations, value, MAX_REASONS)
        _refuse(Reason("relation", pointer, message) for pointer, message in places)
        _refuse(_unknown(contract.references, value, known))
    return value


def read(text: str, *, fenced: bool) -> Any:
    """Return the one JSON value of an answer, with whole numbers as integers, unchecked.

    Raises:
        Unfit: it is none, or cannot be stored.
    """
    try:
        value = _canonical(json_value(text, fenced=fenced))
    except NotStrictJson as error:
        message = f"the answer is not one JSON value: {error}"
        raise Unfit([Reason(error.code, "", message)]) from None
    if _NUL in text and _holds_nul(value):
        raise Unfit([Reason("bad_text", "", "a string holds NUL")])
    return value


def shown(entry: Entry, value: Any) -> dict[str, Any]:
    """Return a JSON value as partners are given it, written anew."""
    if entry.task == "extract":
        return {"data": value}
    return {"text": canonical(value).decode(), "data": value}


def _refuse(reasons: Iterable[Reason]) -> None:
    unfit = Unfit(reasons)
    if unfit.reasons:
        raise unfit


def _of_schemas(
    value: Any, contract: Contract | None, response_schema: dict[str, Any] | None
) -> Iterator[Reason]:
    schemas = [] if contract is None else [("", contract.schema_)]
    if response_schema is not None:
        schemas.append(("response_schema: ", response_schema))
    for whose, schema in schemas:
        for each in violations(schema, value):
            yield Reason("schema", each.pointer, f"{whose}{each.message} ({each.keyword})")


def _unknown(references: Iterable[Reference], value: Any, known: Known) -> Iterator[Reason]:
    named: dict[str, dict[str, str]] = {}
    """By set: each member that is named, and the first place that names it."""
    wrong: list[Reason] = []
    for reference in references:
        members = named.setdefault(reference.set, {})
        for pointer, place in found(parse(reference.path), value):
            if place is None:
                continue
            if isinstance(place, bool) or not isinstance(place, str | int):
                message = f"is neither text nor a whole number, so no member of {reference.set}"
                wrong.append(Reason("reference_type", pointer, message))
            else:
                members.setdefault(str(place), pointer)
    if wrong:
        return iter(wrong)
    for name, members in named.items():
        if len(members) > MOST_REFERENCES:
            message = f"names more than {MOST_REFERENCES} members of {name}"
            return iter([Reason("too_many_references", "", message)])
    return chain.from_iterable(_missing(name, members, known) for name, members in named.items())


def _missing(name: str, members: dict[str, str], known: Known) -> Iterator[Reason]:
    possible = frozenset(each for each in members if 0 < len(each.encode()) <= LONGEST_MEMBER)
    there = known(name, possible) if possible else frozenset()
    for member, pointer in members.items():
        if member not in there:
            yield Reason("reference_unknown", pointer, f"is no member of {name}")


def _canonical(value: Any) -> Any:
    """Return a JSON value with whole numbers as integers, as canonical JSON (RFC 8785) has them.

    `1` and `1.0` are one number in JSON; partners and caches get one form of it.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_INTEGER:
        return int(value)
    if isinstance(value, dict):
        return {name: _canonical(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return value


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or _holds_nul(member) for name, member in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))
