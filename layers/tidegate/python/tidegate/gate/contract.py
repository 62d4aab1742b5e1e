"""What an entry's contract, or a schema that a request brings, has against a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tidegate.errors import ContractUnusable
from tidegate.gate.places import Place, places
from tidegate.gate.reason import MAX_REASONS
from tidegate.rules.catalogue import Entry
from tidegate.rules.json_schema import compiled, parts

MAX_POINTER = 300

_MESSAGES = {
    "additionalProperties": "has members that the contract does not know",
    "unevaluatedProperties": "has members that the contract does not know",
    "unevaluatedItems": "has items that the contract does not know",
    "false": "is not allowed here",
    "type": "is of another type",
    "enum": "is none of the allowed values",
    "const": "is not the allowed value",
    "required": "lacks a required member",
    "minimum": "is too small",
    "exclusiveMinimum": "is too small",
    "maximum": "is too large",
    "exclusiveMaximum": "is too large",
    "multipleOf": "is no multiple of what it should be",
    "minLength": "is too short",
    "maxLength": "is too long",
    "minItems": "has too few items",
    "maxItems": "has too many items",
    "minProperties": "has too few members",
    "maxProperties": "has too many members",
    "uniqueItems": "has an item twice",
    "contains": "has too few or too many items of a kind",
    "pattern": "does not match the pattern",
    "format": "is not of the format",
    "propertyNames": "has a member whose name is not allowed",
    "anyOf": "is none of the alternatives",
    "oneOf": "is none of the alternatives, or more than one",
    "not": "is what it must not be",
}
"""Ours: the validator's quote the value."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks its contract; never quotes the value."""

    pointer: str
    """JSON pointer (RFC 6901) into the value."""
    keyword: str
    message: str


def violations(schema: Mapping[str, Any], value: Any) -> tuple[Violation, ...]:
    """Return where `value` breaks a JSON Schema (2020-12), its objects closed; at most 20 places.

    `format` is asserted. Nothing is fetched, whatever the schema refers to. The value must come
    from `strict_json`.

    Raises:
        ContractUnusable: the schema cannot be used.
    """
    if compiled(schema).is_valid(value):
        return ()
    found = tuple(map(_violation, islice(places(parts(schema), value), MAX_REASONS)))
    return found or (_violation(Place("", "schema")),)


def check_contracts(entries: Mapping[str, Entry]) -> None:
    """Check at synth that every contract can be used, so that no worker finds out.

    Raises:
        ContractUnusable: one cannot; names its key.
    """
    for name, entry in entries.items():
        if entry.contract is not None:
            try:
                compiled(entry.contract.schema_)
            except ContractUnusable as error:
                raise ContractUnusable(f"models.{name}.contract.schema: {error}") from error


def _violation(place: Place) -> Violation:
    message = _MESSAGES.get(place.keyword, "breaks the contract")
    if place.missing:  # the name is the contract's own, not the answer's
        message += f": {place.missing}"
    return Violation(place.pointer[:MAX_POINTER], place.keyword, message)
