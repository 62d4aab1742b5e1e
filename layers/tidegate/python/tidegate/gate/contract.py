"""What an entry's contract has against a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from tidegate.errors import ContractUnusable
from tidegate.rules.catalogue import Entry
from tidegate.rules.closed_schema import closed

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

MAX_REASONS = 20
"""Enough to see what is wrong; a long array of wrong items repeats one mistake."""

MAX_POINTER = 300

_MESSAGES = {
    "additionalProperties": "has members that the contract does not know",
    "unevaluatedProperties": "has members that the contract does not know",
    "type": "is of another type",
    "enum": "is none of the allowed values",
    "const": "is not the allowed value",
    "required": "lacks a required member",
    "minimum": "is too small",
    "exclusiveMinimum": "is too small",
    "maximum": "is too large",
    "exclusiveMaximum": "is too large",
    "minLength": "is too short",
    "maxLength": "is too long",
    "minItems": "has too few items",
    "maxItems": "has too many items",
    "uniqueItems": "has an item twice",
    "pattern": "does not match the pattern",
    "format": "is not of the format",
}
"""Ours rather than the validator's, which quote the value."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks its contract; never quotes the value."""

    pointer: str
    """JSON pointer (RFC 6901) into the value."""
    keyword: str
    message: str


def violations(schema: Mapping[str, Any], value: Any) -> tuple[Violation, ...]:
    """Return where `value` breaks a JSON Schema (2020-12), its objects closed; at most 20 places.

    `format` is asserted. Nothing is fetched, whatever the schema refers to.

    Raises:
        ContractUnusable: the schema cannot be used.
    """
    validator = _compiled(json.dumps(schema, sort_keys=True))
    errors: Iterator[ValidationError] = validator.iter_errors(value)
    return tuple(_violation(error) for error in islice(errors, MAX_REASONS))


def check_contracts(entries: Mapping[str, Entry]) -> None:
    """Check at synth that every contract can be used, so that no worker finds out.

    Raises:
        ContractUnusable: one cannot; names its key.
    """
    for name, entry in entries.items():
        if entry.contract is not None:
            try:
                violations(entry.contract.schema_, None)
            except ContractUnusable as error:
                raise ContractUnusable(f"models.{name}.contract.schema: {error}") from error


@lru_cache(maxsize=32)
def _compiled(schema: str) -> Draft202012Validator:
    # Imported here: only the workers of entries with a contract pay for it at their start.
    from jsonschema_rs import Draft202012Validator, ReferencingError

    try:
        return Draft202012Validator(closed(json.loads(schema)), validate_formats=True, offline=True)
    except (ValueError, ReferencingError) as error:
        raise ContractUnusable(f"the contract is no usable JSON Schema: {error}") from error


def _violation(error: ValidationError) -> Violation:
    keyword = error.kind.name
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path)
    pointer = "".join("/" + step for step in steps)[:MAX_POINTER]
    message = _MESSAGES.get(keyword, "breaks the contract")
    if keyword == "required":  # the name is the contract's own, not the answer's
        message += f": {error.kind.as_dict().get('property', '')}"
    return Violation(pointer, keyword, message)
