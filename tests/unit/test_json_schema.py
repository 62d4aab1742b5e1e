from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tidegate.errors import ContractUnusable
from tidegate.rules.json_schema import DIALECT, compiled, parts, problem


def test_objects_are_closed_and_formats_are_held() -> None:
    validator = compiled({"properties": {"day": {"format": "date"}}})
    assert validator.is_valid({"day": "2024-02-29"})
    assert not validator.is_valid({"day": "2023-02-29"})
    assert not validator.is_valid({"day": "2024-02-29", "other": 1})


def test_one_schema_is_compiled_once_however_it_is_written() -> None:
    first = compiled({"type": "integer", "minimum": 1})
    assert compiled({"minimum": 1.0, "type": "integer"}) is first
    assert compiled({"type": "integer", "minimum": 2}) is not first
    assert parts({"type": "integer"}) is parts({"type": "integer"})


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "nonsense"}, "/type"),
        ({"properties": {"a/b": {"minLength": "1"}}}, "/properties/a~1b/minLength"),
        ({"items": [{}]}, "/items"),
        ({"allOf": {}}, "/allOf"),
        ({"dependentSchemas": []}, "/dependentSchemas"),
        ({"$ref": "#/nowhere"}, ""),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, ""),
        ({"$ref": "file:///etc/passwd"}, ""),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema"),
        ({"pattern": "("}, "/pattern"),
        ({"pattern": "a(?=b)"}, "/pattern"),
        ({"pattern": "(?<!a)b"}, "/pattern"),
        ({"pattern": r"(a)\1"}, "/pattern"),
        ({"pattern": "(a{1000}){1000}"}, "/pattern"),
        ({"pattern": "a[ab]{3000}b"}, "/pattern"),
        ({"patternProperties": {"(a{1000}){1000}": True}}, "/patternProperties/(a{1000}){1000}"),
    ],
)
def test_what_is_no_usable_schema(schema: dict[str, Any], pointer: str) -> None:
    found = problem(schema)
    assert found is not None
    assert found[0] == pointer
    with pytest.raises(ContractUnusable, match="no usable JSON Schema"):
        compiled(schema)
    with pytest.raises(ContractUnusable):
        parts(schema)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**60, "\ud800"])
def test_what_json_cannot_hold_is_no_schema(value: Any) -> None:
    with pytest.raises(ContractUnusable, match="what JSON cannot"):
        compiled({"const": value})


def test_a_schema_nested_without_end_is_refused_and_not_fallen_over() -> None:
    schema: dict[str, Any] = {}
    for _ in range(300):
        schema = {"not": schema}
    with pytest.raises(ContractUnusable, match="nested too deeply"):
        compiled(schema)


def test_messages_quote_nothing_of_a_schema() -> None:
    secret = "a private word"
    for schema in (
        {"type": secret},
        {"$ref": f"#/{secret}"},
        {"$schema": secret},
        {"pattern": f"({secret}"},
        {"required": {"x": secret}},
    ):
        with pytest.raises(ContractUnusable) as caught:
            compiled(schema)
        assert secret not in str(caught.value)


def test_the_dialect_may_be_said() -> None:
    assert compiled({"$schema": DIALECT, "type": "null"}).is_valid(None)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "(a*)*(a*)*(a*)*b", "(.*a){12}b"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    # An engine that goes back and tries again would not end before the sun does.
    assert not compiled({"pattern": pattern}).is_valid("a" * 5_000 + "c")


def test_a_value_as_deep_as_may_be_and_a_large_one() -> None:
    deep: Any = 1
    for _ in range(64):
        deep = [deep]
    tree = {"$defs": {"t": {"items": {"$ref": "#/$defs/t"}, "type": ["array", "integer"]}}}
    assert compiled({**tree, "$ref": "#/$defs/t"}).is_valid(deep)
    rows = [{"id": number, "note": "x" * 80} for number in range(10_000)]
    assert len(json.dumps(rows)) > 1_000_000
    row = {"properties": {"id": {"type": "integer"}, "note": {"type": "string"}}}
    validator = compiled({"items": row, "uniqueItems": True})
    assert validator.is_valid(rows)
    assert not validator.is_valid([*rows, {"id": 1, "note": 2}])
    assert not validator.is_valid([*rows, rows[5]])
