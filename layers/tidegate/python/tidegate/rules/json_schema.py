"""JSON Schema (2020-12) as it is held everywhere: objects closed, nothing fetched, no stalls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tidegate.errors import ContractUnusable
from tidegate.rules.canonical import canonical
from tidegate.rules.closed_schema import closed

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, RegexOptions, ValidatorMap

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The one value of `$schema`."""

PATTERN_BYTES = 50_000
"""Of a compiled pattern. The engine takes time linear to the text, but the factor grows with the
pattern: at this size, the worst ones were seen to take 3 to 8 seconds for a megabyte."""

_PATTERN = (
    "is no usable pattern: no look-around, no references back, and small when its repetitions are "
    "written out"
)


class Parts(NamedTuple):
    """A schema taken apart, to find out which part a value breaks."""

    schema: dict[str, Any]
    """The whole, closed."""
    validators: ValidatorMap
    """One for each schema in it, by its JSON pointer after a `#`."""


def compiled(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Return what holds values against a schema, its objects closed and `format` asserted.

    Values must come from `strict_json`: NaN and half surrogates are not checked again. Ask only
    `is_valid`: the validator's own errors are made all at once, each with a copy of the value.

    Raises:
        ContractUnusable: no JSON Schema, or it refers to something outside itself.
    """
    return _compiled(_text(schema))


def parts(schema: Mapping[str, Any]) -> Parts:
    """Return a schema's parts, as `compiled` holds them.

    Raises:
        ContractUnusable: as for `compiled`.
    """
    return _parts(_text(schema))


def alone(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Return what holds values against a schema as it stands: not closed, not kept.

    Raises:
        ValueError: no JSON Schema; jsonschema_rs' own error.
    """
    # Imported here and below: only who holds values against a schema pays for it.
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(
        dict(schema), validate_formats=True, offline=True, pattern_options=_linear()
    )


def problem(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return where a schema cannot be used (JSON pointer) and why, or None; quotes nothing of it.

    The pointer is empty where the validator does not say.
    """
    from jsonschema_rs import ReferencingError, ValidationError

    if schema.get("$schema", DIALECT) != DIALECT:
        return "/$schema", f"only {DIALECT} is known"
    try:
        alone(schema)
    except ReferencingError:
        return "", "refers to something that is not in it"
    except ValidationError as error:
        if error.kind.name == "$ref":
            return "", "refers to something that is not in it"
        is_pattern = error.kind.as_dict().get("format") == "regex"
        message = _PATTERN if is_pattern else "is not what JSON Schema (2020-12) allows here"
        return pointer(error.instance_path), message
    except ValueError:
        return "", "is nested too deeply"
    return None


def pointer(steps: Iterable[str | int]) -> str:
    """Return a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _text(schema: Mapping[str, Any]) -> str:
    try:
        return canonical(schema).decode()
    except ValueError:
        raise ContractUnusable("the schema holds what JSON cannot") from None


# Hostile patterns keep some 8 MB of a worker's 512 for each schema.
@lru_cache(maxsize=16)
def _compiled(text: str) -> Draft202012Validator:
    schema = json.loads(text)
    found = problem(schema)
    if found is not None:
        raise ContractUnusable(f"no usable JSON Schema: {found[0] or '/'}: {found[1]}")
    return alone(closed(schema))


@lru_cache(maxsize=8)
def _parts(text: str) -> Parts:
    from jsonschema_rs import validator_map_for

    _compiled(text)
    schema = closed(json.loads(text))
    validators = validator_map_for(
        schema, validate_formats=True, offline=True, pattern_options=_linear()
    )
    return Parts(schema, validators)


def _linear() -> RegexOptions:
    from jsonschema_rs import RegexOptions

    return RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=PATTERN_BYTES)
