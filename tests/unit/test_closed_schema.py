from __future__ import annotations

import copy
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from tidegate.rules.closed_schema import closed

A = {"properties": {"a": {"type": "integer"}}}
B = {"properties": {"b": {"type": "integer"}}}


def test_objects_are_closed_at_every_depth() -> None:
    schema = {
        "type": "object",
        "properties": {
            "deep": A,
            "list": {"type": "array", "items": A, "prefixItems": [B]},
            "map": {"type": "object", "additionalProperties": A},
            "named": {"patternProperties": {"^x": A}},
            "ref": {"$ref": "#/$defs/one"},
            "either": {"anyOf": [A, B]},
        },
        "$defs": {"one": A},
    }
    before = copy.deepcopy(schema)
    shut = {**A, "additionalProperties": False}
    result = closed(schema)
    properties = result["properties"]
    assert schema == before
    assert result["additionalProperties"] is False
    assert result["$defs"]["one"] == shut
    assert properties["deep"] == shut
    assert properties["list"]["items"] == shut
    assert properties["list"]["prefixItems"] == [{**B, "additionalProperties": False}]
    assert properties["map"] == {"type": "object", "additionalProperties": shut}
    assert properties["named"] == {"patternProperties": {"^x": shut}}
    assert properties["ref"] == {"$ref": "#/$defs/one"}
    assert properties["either"]["anyOf"] == [shut, {**B, "additionalProperties": False}]


@pytest.mark.parametrize("said", [True, {"type": "string"}, False])
@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties"])
def test_what_a_schema_says_of_others_stands(word: str, said: Any) -> None:
    schema = {**A, word: said}
    assert closed(schema) == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"const": A},
        {"enum": [A]},
        {"default": A, "examples": [A]},
        {"not": A},
        {"contains": A, "maxContains": 1},
        {"properties": {"properties": {"type": "string"}}, "additionalProperties": False},
    ],
)
def test_what_is_no_object_schema_stays(schema: dict[str, Any]) -> None:
    assert closed(schema) == schema


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"allOf": [A, B]}, [{"a": 1, "b": 2}, {}], [{"a": 1, "c": 3}]),
        ({**A, "allOf": [B]}, [{"a": 1, "b": 2}], [{"c": 3}]),
        ({**A, "anyOf": [B, {"required": ["a"]}]}, [{"a": 1, "b": 2}], [{"a": 1, "c": 3}]),
        ({"anyOf": [A, B]}, [{"a": 1}, {"b": 2}], [{"a": 1, "b": 2}, {"c": 3}]),
        ({"oneOf": [A, B]}, [{"a": 1}, {"b": 2}], [{"a": 1, "b": 2}]),
        (
            {**A, "if": {"properties": {"a": {"const": 1}}}, "then": B},
            [{"a": 1, "b": 2}, {"a": 2}],
            [{"a": 2, "b": 2}, {"a": 1, "c": 1}],
        ),
        ({**A, "dependentSchemas": {"a": B}}, [{"a": 1, "b": 2}], [{"b": 2}, {"a": 1, "c": 3}]),
        (
            {"allOf": [{"$ref": "#/$defs/base"}, B], "$defs": {"base": A}},
            [{"a": 1, "b": 2}],
            [{"a": 1, "c": 3}],
        ),
        (
            {**B, "$ref": "#/$defs/base", "$defs": {"base": A}},
            [{"a": 1, "b": 2}],
            [{"c": 3}],
        ),
        (
            {
                "properties": {
                    "plain": {"$ref": "#/$defs/base"},
                    "more": {"allOf": [{"$ref": "#/$defs/base"}, B]},
                },
                "$defs": {"base": {"$ref": "#/$defs/root"}, "root": A},
            },
            [{"plain": {"a": 1}, "more": {"a": 1, "b": 2}}],
            [{"plain": {"a": 1, "b": 2}}, {"more": {"c": 3}}, {"other": 1}],
        ),
        ({"allOf": [{"anyOf": [A, B]}]}, [{"a": 1}], [{"c": 1}]),
        ({"properties": {"next": {"$ref": "#"}}}, [{"next": {"next": {}}}], [{"next": {"a": 1}}]),
    ],
)
def test_parts_of_one_object_are_closed_together(
    schema: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    validator = Draft202012Validator(closed(schema), offline=True)
    assert [value for value in good if not validator.is_valid(value)] == []
    assert [value for value in bad if validator.is_valid(value)] == []
