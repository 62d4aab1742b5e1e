from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

from tests.properties import ANY_MACHINE
from tests.unit.schema_strategies import ANYTHING
from tidegate.rules.canonical import canonical
from tidegate.rules.json_schema import DIALECT, compiled
from tidegate.rules.response_schema import (
    MAX_BYTES,
    MAX_LEVELS,
    MAX_PATTERN,
    MAX_PATTERNS,
    MAX_SCHEMAS,
    MAX_WRITTEN_OUT,
    problem,
)

Schema = dict[str, Any]

ADDRESS = {"type": "object", "properties": {"street": {"type": "string", "maxLength": 80}}}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def refused(schema: Any) -> str:
    """Return the pointer of the refusal."""
    found = problem(schema)
    assert found is not None
    assert found[1]
    return found[0]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"$schema": DIALECT, "type": "object", "title": "Nothing", "x-ours": {"pattern": "("}},
        {
            "$defs": {"Address": ADDRESS, "Box_int_": {"type": "integer"}},
            "properties": {"home": ref("Address"), "work": ref("Address"), "n": ref("Box_int_")},
            "required": ["home"],
        },
        {"definitions": {"a.b-c": ADDRESS}, "items": {"$ref": "#/definitions/a.b-c"}},
        {"properties": {"$id": {"type": "string"}, "$ref": {"type": "string"}, "$anchor": True}},
        {"const": {"$id": "x", "$ref": "#/nowhere"}, "default": {"$ref": "http://a"}},
        {"enum": [f"country {number}" for number in range(500)]},
        {"type": "integer", "enum": list(range(200))},
        {"anyOf": [{"properties": {"kind": {"const": f"k{n}"}, "score": {"minimum": 0.5}}}
                   for n in range(15)]},
        {"properties": {f"p{n}": {"pattern": f"^[A-Z]{{2}}-{n}$"} for n in range(MAX_PATTERNS)}},
        {"allOf": [{"minimum": 1.0}] * 100},
        {"properties": {f"p{n}": {"enum": [0.5, n]} for n in range(100)}},
        {"allOf": [ADDRESS, {"anyOf": [ADDRESS, {"if": ADDRESS, "then": ADDRESS}]}]},
    ],
)  # fmt: skip
def test_what_partners_have_reason_to_bring(schema: Schema) -> None:
    assert problem(schema) is None
    compiled(schema)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ([], ""),
        (True, ""),
        (None, ""),
        ("{}", ""),
        ({"type": "nonsense"}, "/type"),
        ({"properties": {"a/b": {"required": "c"}}}, "/properties/a~1b/required"),
        ({"allOf": [{}, 3]}, "/allOf/1"),
        ({"$defs": {"a": {"minLength": -1}}}, "/$defs/a/minLength"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema"),
        ({"items": {"$schema": "http://json-schema.org/draft-04/schema#"}}, "/items/$schema"),
        *(
            ({"items": {word: "x"}}, f"/items/{word}")
            for word in ["$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef",
                         "$vocabulary"]
        ),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "/$ref"),
        ({"$ref": "#"}, "/$ref"),
        ({"$ref": "#/$defs/a"}, "/$ref"),
        ({"$ref": "#/$defs/a", "$defs": "a"}, "/$ref"),
        ({"$ref": "#/$defs/a", "$defs": {"b": {}}}, "/$ref"),
        ({"$ref": 1}, "/$ref"),
        ({"$ref": "#/properties/a", "properties": {"a": {}}}, "/$ref"),
        ({"items": ref("a/items"), "$defs": {"a": {"items": {}}}}, "/items/$ref"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}, "/$ref"),
        ({"$ref": "#/$defs/%61", "$defs": {"a": {}}}, "/$ref"),
        ({"$defs": {"a": ref("a")}}, "/$defs/a/$ref"),
        ({"items": ref("a"), "$defs": {"a": {"items": ref("b")}, "b": {"not": ref("a")}}},
         "/$defs/b/not/$ref"),
        ({"pattern": "a(?=b)"}, "/pattern"),
        ({"pattern": "(a{1000}){1000}"}, "/pattern"),
        ({"pattern": 3}, "/pattern"),
        ({"patternProperties": {"a/(": True}}, "/patternProperties/a~1("),
    ],
)  # fmt: skip
def test_what_is_refused_and_where(schema: Any, pointer: str) -> None:
    assert refused(schema) == pointer


def sized(excess: int) -> Schema:
    schema = {"title": ""}
    return {"title": "x" * (MAX_BYTES - len(canonical(schema)) + excess)}


def nested(levels: int) -> Schema:
    schema: Schema = {}
    for _ in range(levels - 1):
        schema = {"items": schema}
    return schema


def chained(levels: int) -> Schema:
    names = [f"d{number}" for number in range(levels - 1)]
    definitions: Schema = {name: ref(after) for name, after in pairwise(names)}
    return {**ref(names[0]), "$defs": {**definitions, names[-1]: {}}}


def patterned(number: int) -> Schema:
    half = number // 2
    held = {f"p{n:02}": {"patternProperties": {f"^{n}": True}} for n in range(half)}
    return {"properties": {**held, **{f"q{n:02}": {"pattern": "a"} for n in range(number - half)}}}


def written_out(number: int) -> Schema:
    """Return 1 schema at the top, 1 for each `$ref` and 99 for what each leads to."""
    references = {f"p{n}": ref("d") for n in range((number - 1) // 100)}
    rest = {f"q{n}": True for n in range((number - 1) % 100)}
    definition = {"properties": {f"r{n}": True for n in range(98)}}
    return {"properties": {**references, **rest}, "$defs": {"d": definition}}


@pytest.mark.parametrize(
    ("at_limit", "past_it", "pointer"),
    [
        (sized(0), sized(1), ""),
        (nested(MAX_LEVELS), nested(MAX_LEVELS + 1), "/items" * MAX_LEVELS),
        (chained(MAX_LEVELS), chained(MAX_LEVELS + 1), ""),
        ({"allOf": [{}] * (MAX_SCHEMAS - 1)}, {"allOf": [{}] * MAX_SCHEMAS},
         f"/allOf/{MAX_SCHEMAS - 1}"),
        ({"pattern": "a" * MAX_PATTERN}, {"pattern": "a" * (MAX_PATTERN + 1)}, "/pattern"),
        (patterned(MAX_PATTERNS), patterned(MAX_PATTERNS + 1), "/properties/q25/pattern"),
        (written_out(MAX_WRITTEN_OUT), written_out(MAX_WRITTEN_OUT + 1), ""),
    ],
    ids=["bytes", "levels", "references", "schemas", "pattern", "patterns", "written out"],
)  # fmt: skip
def test_the_limits(at_limit: Schema, past_it: Schema, pointer: str) -> None:
    assert problem(at_limit) is None
    assert refused(past_it) == pointer


@pytest.mark.parametrize("word", ["allOf", "prefixItems"])
def test_a_schema_that_doubles_with_each_definition(word: str) -> None:
    names = [f"d{number}" for number in range(12)]
    bomb: Schema = {name: {word: [ref(after), ref(after)]} for name, after in pairwise(names)}
    schema = {**ref("d0"), "$defs": {**bomb, "d11": {"type": "integer"}}}
    assert len(canonical(schema)) < 1_000
    found = problem(schema)
    assert found is not None
    assert "each `$ref` is replaced" in found[1]


def unevaluated(levels: int) -> Schema:
    schema: Schema = {"properties": {"a": {"type": "integer"}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        (unevaluated(5), unevaluated(10)),
        ({"enum": [n + 0.5 for n in range(25)]}, {"enum": [n + 0.5 for n in range(250)]}),
        ({"type": "integer", "enum": list(range(200))}, {"enum": list(range(200))}),
        ({"enum": [[n] for n in range(25)]}, {"enum": [[n] for n in range(250)]}),
        ({"allOf": [{"pattern": "a+b"}] * 10}, {"allOf": [{"pattern": "a+b"}] * 20}),
        ({"patternProperties": {f"^{n}": True for n in range(10)}},
         {"patternProperties": {f"^{n}": True for n in range(20)}}),
        ({"allOf": [{"uniqueItems": True}] * 50}, {"allOf": [{"uniqueItems": True}] * 400}),
        ({"properties": {f"p{n}": {"minimum": 0.5} for n in range(100)}},
         {"allOf": [{"properties": {"p": {"minimum": 0.5}}} for _ in range(100)]}),
        ({"items": ref("d"), "$defs": {"d": {"format": "idn-email"}}},
         {"items": {"anyOf": [ref("d")] * 300}, "$defs": {"d": {"format": "idn-email"}}}),
    ],
    ids=["unevaluated", "decimals", "whole", "lists", "patterns", "names", "unique", "one place",
         "$ref"],
)  # fmt: skip
def test_what_one_place_may_cost(cheap: Schema, dear: Schema) -> None:
    assert problem(cheap) is None
    found = problem(dear)
    assert found is not None
    assert "single place" in found[1]


def test_pointers_stay_readable() -> None:
    assert len(refused({"properties": {"n" * 9_000: {"type": 1}}})) == 300


@settings(max_examples=250, deadline=None, suppress_health_check=ANY_MACHINE)
@given(ANYTHING)
def test_no_shape_makes_it_fall_over(schema: Any) -> None:
    found = problem(schema)
    if found is None:
        compiled(schema).is_valid({"a": [1, {}]})
        return
    for step in found[0].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        schema = schema[int(name)] if isinstance(schema, list) else schema[name]
