"""Where a value breaks a JSON Schema, found part by part.

The validator can say so itself, but makes all its errors before it gives the first, each with a
copy of the value and of the schema: gigabytes, for an answer of some kilobytes that is wrong
everywhere. Here the parts are asked only whether they hold, and no longer than there are takers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tidegate.rules.json_schema import Parts, alone, pointer

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MAX_LOOKS = 200_000
"""About half a second, if they are small."""

MAX_BELOW = 20
"""Wrong parts of one place that are followed."""

_ALONE = frozenset(
    {
        "const",
        "dependentRequired",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "type",
        "uniqueItems",
    }
)
"""Keywords that say the same without their neighbours."""


class Place(NamedTuple):
    """One of them."""

    pointer: str
    """JSON pointer (RFC 6901) into the value."""
    keyword: str
    """The schema's; `schema` if no single one could be found."""
    missing: str = ""
    """The name of the member, for `required`."""


class _EnoughLooks(Exception):
    """The search ends."""


class _Part(NamedTuple):
    at: str
    """JSON pointer into the schema."""
    schema: Any
    value: Any
    where: str


def places(parts: Parts, value: Any, looks: int = MAX_LOOKS) -> Iterator[Place]:
    """Yield where a value breaks a schema that it does break; maybe none, if that is hard to say.

    `looks` is how many parts are asked before the search ends, whatever it found.

    Parts are followed into members, items, `allOf`, `$ref`, `if` and the like; alternatives are
    one place, as nobody knows which was meant.
    """
    return _Search(parts, looks).places(value)


@dataclass(slots=True)
class _Search:
    parts: Parts
    looks: int
    validators: dict[tuple[str, str], Draft202012Validator] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    """Parts that were followed, with where: a `$ref` may lead to itself."""

    def places(self, value: Any) -> Iterator[Place]:
        waiting = [_Part("", self.parts.schema, value, "")]
        with suppress(_EnoughLooks):
            while waiting:
                yield from self._of(waiting.pop(), waiting)

    def _of(self, part: _Part, waiting: list[_Part]) -> Iterator[Place]:
        """Yield a wrong part's own places; put the wrong parts in it to those that wait."""
        if (part.at, part.where) in self.seen:
            return
        self.seen.add((part.at, part.where))
        if not isinstance(part.schema, Mapping):
            yield Place(part.where, "false")
            return
        wrong = (each for each in self._within(part) if not self._holds(each.at, each.value))
        below = list(islice(wrong, MAX_BELOW))
        waiting.extend(reversed(below))
        found = bool(below)
        for place in self._own(part):
            found = True
            yield place
        if not found:
            yield Place(part.where, self._left(part.schema))

    def _look(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise _EnoughLooks

    def _holds(self, at: str, value: Any) -> bool:
        self._look()
        return self.parts.validators[f"#{at}"].is_valid(value)

    def _alone(self, at: str, word: str, schema: Mapping[str, Any], value: Any) -> bool:
        """Return whether a value is of a schema that is made of one keyword."""
        self._look()
        key = at, word
        if key not in self.validators:
            self.validators[key] = alone(schema)
        return self.validators[key].is_valid(value)

    def _within(self, part: _Part) -> Iterator[_Part]:
        yield from self._same(part)
        if isinstance(part.value, Mapping):
            yield from self._members(part)
        elif isinstance(part.value, list):
            yield from self._items(part)

    def _same(self, part: _Part) -> Iterator[_Part]:
        """Yield the parts that are for the value itself."""
        at, schema, value, where = part
        for number, each in enumerate(schema.get("allOf", ())):
            yield _Part(f"{at}/allOf/{number}", each, value, where)
        reference = schema.get("$ref", "")
        if reference in self.parts.validators:
            yield _Part(reference[1:], self._schema(reference[1:]), value, where)
        if "if" in schema:
            branch = "then" if self._holds(f"{at}/if", value) else "else"
            if branch in schema:
                yield _Part(f"{at}/{branch}", schema[branch], value, where)
        if isinstance(value, Mapping):
            for name, each in schema.get("dependentSchemas", {}).items():
                if name in value:
                    yield _Part(at + pointer(("dependentSchemas", name)), each, value, where)

    def _items(self, part: _Part) -> Iterator[_Part]:
        at, schema, value, where = part
        first = schema.get("prefixItems", ())
        for number, (item, each) in enumerate(zip(value, first, strict=False)):
            yield _Part(f"{at}/prefixItems/{number}", each, item, f"{where}/{number}")
        if "items" in schema:
            for number, item in enumerate(value[len(first) :], len(first)):
                yield _Part(f"{at}/items", schema["items"], item, f"{where}/{number}")

    def _members(self, part: _Part) -> Iterator[_Part]:
        at, schema, value, where = part
        listed, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        others = schema.get("additionalProperties")
        for name, member in value.items():
            here = where + pointer((name,))
            ways = [("properties", name)] if name in listed else []
            ways += [("patternProperties", each) for each in patterns if self._matches(each, name)]
            for way in ways:
                yield _Part(at + pointer(way), schema[way[0]][way[1]], member, here)
            if not ways and isinstance(others, Mapping):
                yield _Part(f"{at}/additionalProperties", others, member, here)

    def _matches(self, pattern: str, name: str) -> bool:
        return self._alone("", f"pattern {pattern}", {"pattern": pattern}, name)

    def _own(self, part: _Part) -> Iterator[Place]:
        at, schema, value, where = part
        for word, said in schema.items():
            if word == "required" and isinstance(value, Mapping):
                for name in said:
                    if name not in value:
                        yield Place(where, word, name)
            elif word in _ALONE:
                if not self._alone(at, word, {word: said}, value):
                    yield Place(where, word)
            elif self._breaks(word, part):
                yield Place(where, word)

    def _breaks(self, word: str, part: _Part) -> bool:
        at, schema, value, _ = part
        said = schema[word]
        if word in {"anyOf", "oneOf"}:
            held = sum(self._holds(f"{at}/{word}/{n}", value) for n in range(len(said)))
            return held != 1 if word == "oneOf" else held == 0
        if word == "not":
            return self._holds(f"{at}/not", value)
        if word == "contains" and isinstance(value, list):
            held = sum(self._holds(f"{at}/contains", item) for item in value)
            return not schema.get("minContains", 1) <= held <= schema.get("maxContains", held)
        if isinstance(value, Mapping):
            if word == "propertyNames":
                return not all(self._holds(f"{at}/propertyNames", name) for name in value)
            if word == "additionalProperties" and said is False:
                known = dict.fromkeys(schema.get("properties", ()), True)
                matched = dict.fromkeys(schema.get("patternProperties", ()), True)
                alone = {word: False, "properties": known, "patternProperties": matched}
                return not self._alone(at, word, alone, value)
        return False

    @staticmethod
    def _left(schema: Mapping[str, Any]) -> str:
        """Return the keyword that is to blame if no other is."""
        words = ("unevaluatedProperties", "unevaluatedItems")
        return next((word for word in words if word in schema), "schema")

    def _schema(self, at: str) -> Any:
        schema: Any = self.parts.schema
        for step in at.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            schema = schema[int(name)] if isinstance(schema, list) else schema[name]
        return schema
