"""`1`, `"1"`, `1.0` and `true`: a value is told apart by type, and never taken for another."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.key_requests import MODELS, chat
from tidegate.errors import InvalidBody, InvalidRequest
from tidegate.rules.canonical import sha256
from tidegate.rules.catalogue import parse

APART: list[Any] = [
    1, "1", "1.0", True, "true", 0, False, None, "null", "", [], {}, [[]], [{}], [""], [None],
    {"": None}, ["a", "b"], ["a, b"], ["ab"], ["b", "a"], [["a"], "b"], [["a", "b"]], ["a", ["b"]],
    {"a": "b"}, {"b": "a"}, {"a": ["b"]}, [{"a": "b"}], ["a", "b", None], {"a": {"b": None}},
    {"a": None, "b": None}, {"a": 1}, {"a": "1"}, {"a": True}, {"a": [1]}, "[1]", '{"a":1}',
    0.1, "0.1", 1e21, 1e22, 10**15, -1,
]  # fmt: skip
"""JSON values no two of which are one."""


def test_values_that_look_alike_have_hashes_of_their_own() -> None:
    assert len({sha256(value) for value in APART}) == len(APART)


@pytest.mark.parametrize(("one", "same"), [(1, 1.0), (0, -0.0), (1e15, 10**15), ([1], [1.0])])
def test_a_number_is_one_value_however_it_is_written(one: Any, same: Any) -> None:
    assert sha256(one) == sha256(same)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("seed", [1.0, "1", True, [1], {"a": 1}, 0.5]),
        ("temperature", ["1", True, "0.0", [0], {}]),
        ("user", [1, 1.0, True, ["a"], {"a": "b"}]),
        ("stream", [1, 0, "true", 1.0, []]),
    ],
)
def test_a_value_of_another_type_is_refused_and_not_taken_for_it(
    name: str, values: list[Any]
) -> None:
    for value in values:
        with pytest.raises(InvalidRequest, match=f"/params/{name}"):
            chat(params={name: value}).request()


@pytest.mark.parametrize("value", [1, 1.0, True, None, ["a"], {"a": "b"}])
def test_notes_are_text_or_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest, match="/metadata/a"):
        chat(metadata={"a": value}).request()


def test_a_parameter_that_changed_its_type_is_another_value() -> None:
    """The types of a catalogue are not in the key; the values are told apart by themselves."""
    names = set()
    for kind, value in [("integer", 1), ("string", "1"), ("boolean", True)]:
        entry = MODELS.models["chat"].model_dump(mode="json", by_alias=True, exclude_none=True)
        entry["parameters"] = {"x": {"type": kind}}
        changed = parse({"models": {"m": entry}}).models["m"]
        ask = chat(params={"x": value}).but(entry={"parameters": changed.parameters})
        names.add(ask.key())
    assert len(names) == 3


@pytest.mark.parametrize("number", ["9007199254740992", "-9007199254740992", "1" * 400, "NaN"])
@pytest.mark.parametrize("name", ["seed", "temperature"])
def test_a_number_that_no_key_can_hold_is_refused(name: str, number: str) -> None:
    raw = (
        '{"model": "chat", "input": {"messages": [{"role": "user", "content": "Hi"}]}, '
        f'"params": {{"{name}": {number}}}}}'
    )
    with pytest.raises(InvalidBody):
        chat().key(raw)


def test_the_largest_whole_numbers_have_keys_of_their_own() -> None:
    most = 2**53 - 1
    assert len({chat(params={"seed": n}).key() for n in (most, most - 1, -most, 1 - most)}) == 4
