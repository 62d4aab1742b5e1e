"""Random JSON Schemas (2020-12): ones that mean something, and ones of any shape."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "c/d", "~"]
_DEFINITIONS = ["x", "y", "z"]
_SCALARS = st.sampled_from([None, True, False, 0, 1, 7, 0.5, "", "a", "ab", "2024-02-29"])

VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)

_small = st.integers(0, 3)
_LEAVES = {
    "type": st.sampled_from(["object", "array", "string", "integer", "number", "null", "boolean"]),
    "enum": st.lists(_SCALARS, min_size=1, max_size=3),
    "const": VALUES,
    "minimum": st.sampled_from([0, 1, 0.5]),
    "maximum": _small,
    "multipleOf": st.sampled_from([1, 0.5]),
    "minLength": _small,
    "maxLength": _small,
    "pattern": st.sampled_from(["^a", "b$", "[0-9]{4}"]),
    "format": st.sampled_from(["date", "email", "unknown"]),
    "minItems": _small,
    "maxItems": _small,
    "uniqueItems": st.booleans(),
    "minProperties": _small,
    "maxProperties": _small,
    "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    "minContains": _small,
    "x-unknown": VALUES,
}


def _outer(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(st.sampled_from(NAMES), inner, max_size=2)
    holders = {
        **dict.fromkeys(["allOf", "anyOf", "oneOf", "prefixItems"], some),
        **dict.fromkeys(["properties", "dependentSchemas"], by_name),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "d"]), inner, max_size=2),
        **dict.fromkeys(["if", "then", "else", "not", "items", "contains", "propertyNames"], inner),
        **dict.fromkeys(["additionalProperties", "unevaluatedProperties"], inner),
        "unevaluatedItems": inner,
    }
    chosen = st.sampled_from(list(holders)).flatmap(
        lambda word: st.tuples(st.just(word), holders[word])
    )
    return st.builds(lambda leaf, more: {**leaf, **dict(more)}, _LEAF, st.lists(chosen, max_size=3))


_LEAF: st.SearchStrategy[Any] = st.lists(
    st.sampled_from(list(_LEAVES)).flatmap(lambda word: st.tuples(st.just(word), _LEAVES[word])),
    max_size=2,
).map(dict)
_REFERENCE = st.sampled_from(_DEFINITIONS).map(lambda name: {"$ref": f"#/$defs/{name}"})
_SCHEMA = st.recursive(_LEAF | st.booleans() | _REFERENCE, _outer, max_leaves=8)

SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda schema, definitions: {
        **schema,
        "$defs": dict(zip(_DEFINITIONS, definitions, strict=True)),
    },
    _SCHEMA.filter(lambda schema: isinstance(schema, dict)),
    st.lists(_SCHEMA, min_size=3, max_size=3),
)
"""Well formed; a `$ref` may lead to itself."""

_WORDS = [*_LEAVES, "$ref", "$defs", "definitions", "$id", "$schema", "properties", "items",
          "allOf", "anyOf", "not", "if", "dependentSchemas", "dependencies",
          "patternProperties"]  # fmt: skip

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    _SCALARS | _REFERENCE,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=3)
    ),
    max_leaves=10,
)
"""Keywords with members of any shape."""
