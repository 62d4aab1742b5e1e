"""Where a JSON Schema (2020-12) holds further ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

DEFINITIONS = frozenset({"$defs", "definitions"})
"""Hold schemas for others to refer to; nothing is held against them where they stand."""

SAME_VALUE = frozenset(
    {
        "allOf",
        "anyOf",
        "dependencies",
        "dependentSchemas",
        "else",
        "if",
        "not",
        "oneOf",
        "then",
    }
)
"""Hold schemas for the value that the outer one is for."""

_ONE = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = DEFINITIONS | {"dependencies", "dependentSchemas", "patternProperties", "properties"}


class Child(NamedTuple):
    """A schema in another one."""

    word: str
    """The keyword that holds it."""
    steps: tuple[str | int, ...]
    """The way to it from the outer schema."""
    schema: Any
    """An object or a boolean."""


def children(schema: Any) -> Iterator[Child]:
    """Yield the schemas that stand directly in one; members of the wrong shape hold none."""
    if not isinstance(schema, Mapping):
        return
    for word, value in schema.items():
        if word in _ONE:
            found: list[tuple[tuple[str | int, ...], Any]] = [((word,), value)]
        elif word in _LISTED and isinstance(value, list):
            found = [((word, number), each) for number, each in enumerate(value)]
        elif word in _NAMED and isinstance(value, Mapping):
            found = [((word, name), each) for name, each in value.items()]
        else:
            continue
        for steps, each in found:
            if isinstance(each, bool | Mapping):
                yield Child(word, steps, each)


def member_names(schema: Any) -> frozenset[str]:
    """Return the names of members that a schema lists, at any depth."""
    names: set[str] = set()
    waiting = [schema]
    while waiting:
        for child in children(waiting.pop()):
            if child.word == "properties":
                names.add(str(child.steps[-1]))
            waiting.append(child.schema)
    return frozenset(names)
