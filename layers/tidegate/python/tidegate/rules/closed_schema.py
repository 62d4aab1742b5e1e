"""Closing the objects of a JSON Schema, for the vendor that is told it and the gate that holds it.

An object schema that lists properties and says nothing of others allows any others; a contract
means the opposite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_ELSEWHERE = frozenset({"items", "prefixItems", "additionalProperties", "unevaluatedProperties"})
_ELSEWHERE_BY_NAME = frozenset({"properties", "patternProperties"})
_ALTERNATIVES = frozenset({"anyOf", "oneOf"})
_SAME_OBJECT = frozenset({"allOf", "then", "else"})
_COMPOSED = _SAME_OBJECT | {"dependentSchemas"}
_SAYS_SO = frozenset({"additionalProperties", "unevaluatedProperties"})


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema (2020-12) with its objects closed at every depth.

    Parts that speak of one and the same object (`allOf`, `then`, a `$ref` with neighbours, …) are
    closed together, by `unevaluatedProperties` where they meet: closed singly, each would refuse
    the others' members. `if`, `not` and `contains` stay as they are; a narrower condition there
    could let more pass.
    """
    closing = _Closing()
    while True:
        known = len(closing.joined)
        result = closing.of(schema, shared=False)
        if len(closing.joined) == known:
            return result


@dataclass(slots=True)
class _Closing:
    joined: set[str] = field(default_factory=set)
    """The `$ref`s that are one part of an object among others; found while going through."""

    def of(self, schema: Mapping[str, Any], *, shared: bool) -> dict[str, Any]:
        """Return a schema closed, or left open if its object is `shared` with other parts."""
        own = "properties" in schema
        meets = not _COMPOSED.isdisjoint(schema) or (own and not _ALTERNATIVES.isdisjoint(schema))
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if shared or own or meets or not _ALTERNATIVES.isdisjoint(schema):
                self.joined.add(reference)
            meets = meets or reference in self.joined
        # Alternatives with nothing beside them are whole objects, each closed for itself.
        below = shared or meets or own
        result = {word: self._part(word, value, below) for word, value in schema.items()}
        if shared or not _SAYS_SO.isdisjoint(schema):
            return result
        if meets and _lists_members(schema):
            result["unevaluatedProperties"] = False
        elif own:
            result["additionalProperties"] = False
        return result

    def _part(self, word: str, value: Any, shared: bool) -> Any:
        if word in _ELSEWHERE:
            return self._each(value, shared=False)
        if word in _ALTERNATIVES:
            return self._each(value, shared=shared)
        if word in _SAME_OBJECT:
            return self._each(value, shared=True)
        if not isinstance(value, Mapping):
            return value
        if word in _ELSEWHERE_BY_NAME:
            return {name: self._each(part, shared=False) for name, part in value.items()}
        if word == "dependentSchemas":
            return {name: self._each(part, shared=True) for name, part in value.items()}
        if word in {"$defs", "definitions"}:
            return {
                name: self._each(part, shared=f"#/{word}/{name}" in self.joined)
                for name, part in value.items()
            }
        return value

    def _each(self, value: Any, *, shared: bool) -> Any:
        if isinstance(value, Mapping):
            return self.of(value, shared=shared)
        if isinstance(value, list):
            return [self._each(item, shared=shared) for item in value]
        return value


def _lists_members(schema: Any) -> bool:
    """Return whether a schema, or a part of it about the same object, names properties."""
    if not isinstance(schema, Mapping):
        return False
    parts = [schema.get("then"), schema.get("else"), *schema.get("dependentSchemas", {}).values()]
    for word in ("allOf", *_ALTERNATIVES):
        parts.extend(schema.get(word, ()))
    # What a joined `$ref` leads to was left open, so it counts as naming some.
    return "properties" in schema or "$ref" in schema or any(map(_lists_members, parts))
