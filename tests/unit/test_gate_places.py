"""Where a value breaks a schema: said as the validator says it, and never for gigabytes."""

from __future__ import annotations

import resource
from typing import Any

import pytest
from hypothesis import given, settings

from tests.properties import ANY_MACHINE
from tests.unit.schema_strategies import SCHEMAS, VALUES
from tidegate.gate.contract import Violation, violations
from tidegate.gate.places import MAX_LOOKS, places
from tidegate.gate.reason import MAX_REASONS
from tidegate.rules.closed_schema import closed
from tidegate.rules.json_schema import alone, parts, pointer
from tidegate.rules.response_schema import problem

WHOLE = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"allOf": [{"properties": {"a": WHOLE}}, {"properties": {"b": WHOLE}}]},
         {"a": "x", "b": 1}, [("/a", "type")]),
        ({"allOf": [{"properties": {"a": WHOLE}}, {"properties": {"b": WHOLE}}]},
         {"a": 1, "c": 1}, [("", "unevaluatedProperties")]),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"items": WHOLE}}}, [1, "x"], [("/1", "type")]),
        ({"properties": {"kind": True}, "if": {"properties": {"kind": {"const": "a"}}},
          "then": {"required": ["b"]}, "else": {"maxProperties": 0}},
         {"kind": "z"}, [("", "maxProperties")]),
        ({"if": {"type": "string"}, "then": {"minLength": 2}, "else": WHOLE}, "x",
         [("", "minLength")]),
        ({"prefixItems": [True, WHOLE], "items": {"type": "string"}}, [1, "x", 3, "y"],
         [("/1", "type"), ("/2", "type")]),
        ({"prefixItems": [WHOLE], "items": False}, [1, 2], [("/1", "false")]),
        ({"patternProperties": {"^n": WHOLE}, "additionalProperties": {"type": "string"}},
         {"n1": "x", "m": 2}, [("/n1", "type"), ("/m", "type")]),
        ({"patternProperties": {"^n": WHOLE}, "additionalProperties": {"type": "string"}},
         {"n1": 1, "m": 2}, [("/m", "type")]),
        ({"patternProperties": {"^n": WHOLE}, "additionalProperties": False},
         {"n1": "x"}, [("/n1", "type")]),
        ({"patternProperties": {"^n": WHOLE}, "additionalProperties": False},
         {"n1": 1, "m": 2}, [("", "additionalProperties")]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}, "additionalProperties": True},
         {"a": 1}, [("", "required")]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, [("", "dependentRequired")]),
        ({"properties": {"x": {"anyOf": [WHOLE, {"type": "null"}]}}}, {"x": "y"},
         [("/x", "anyOf")]),
        ({"oneOf": [WHOLE, {"minimum": 3}]}, 5, [("", "oneOf")]),
        ({"not": WHOLE}, 5, [("", "not")]),
        ({"contains": WHOLE, "maxContains": 1}, [1, 2], [("", "contains")]),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, [("", "propertyNames")]),
        ({"prefixItems": [True], "unevaluatedItems": False}, [1, 2], [("", "unevaluatedItems")]),
        ({"$dynamicRef": "#there", "$defs": {"a": {"$dynamicAnchor": "there", "type": "null"}}}, 1,
         [("", "schema")]),
        ({"allOf": [{"$ref": "#"}, WHOLE]}, "x", [("", "type")]),
    ],
)  # fmt: skip
def test_the_part_that_is_broken_is_found(
    schema: dict[str, Any], value: Any, expected: list[tuple[str, str]]
) -> None:
    assert [(each.pointer, each.keyword) for each in violations(schema, value)] == expected


def test_a_missing_member_is_named() -> None:
    found = violations({"required": ["a", "b"], "additionalProperties": True}, {"b": 1})
    assert [each.message for each in found] == ["lacks a required member: a"]


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"required": [f"m{number}" for number in range(500)]}},
        {"anyOf": [{"items": {"required": [f"m{number}" for number in range(500)]}}, WHOLE]},
        {"items": {"not": {"allOf": [{"maxProperties": n} for n in range(500)] + [True]}},
         "minItems": 10_000},
    ],
    ids=["everywhere", "in an alternative", "in a large schema"],
)  # fmt: skip
def test_an_answer_that_is_wrong_everywhere_takes_no_memory(schema: dict[str, Any]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # The validator's own errors would be 500 000, of more than a kilobyte each.
    assert 1 <= len(violations(schema, [{}] * 1_000)) <= MAX_REASONS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_the_search_has_an_end() -> None:
    late = parts({"items": WHOLE}), [1] * 100 + ["x"]
    assert list(places(*late, looks=100)) == []
    assert [each.pointer for each in places(*late, looks=200)] == ["/100"]
    very_late = [1] * MAX_LOOKS + ["x"]
    assert violations({"items": WHOLE}, very_late) == (
        Violation("", "schema", "breaks the contract"),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=ANY_MACHINE)
@given(SCHEMAS, VALUES)
def test_places_are_the_validators_own(schema: dict[str, Any], value: Any) -> None:
    if problem(schema) is not None:
        return
    validator = alone(closed(schema))
    found = violations(schema, value)
    assert bool(found) is not validator.is_valid(value)
    own = {pointer(error.instance_path) for error in validator.iter_errors(value)}
    assert {each.pointer for each in found} <= own
