"""Moto that remembers against moto that looks again: the same answers to the letter."""

from __future__ import annotations

from typing import Any

import pytest
from botocore import xform_name
from botocore.session import Session
from hypothesis import example, given, settings
from hypothesis import strategies as st
from moto.core.serialize import JSONSerializer, XFormedAttributePicker
from moto.core.utils import get_service_model

from tests import moto_memory

OPERATIONS = (
    ("dynamodb", "GetItem"),
    ("dynamodb", "Query"),
    ("dynamodb", "DescribeTable"),
    ("dynamodb", "TransactWriteItems"),
    ("sqs", "ReceiveMessage"),
    ("sqs", "GetQueueAttributes"),
)

LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "blob": st.binary(max_size=2),
    "boolean": st.booleans(),
    "timestamp": st.just(1_900_000_000.5),
    "integer": st.integers(0, 9),
    "long": st.integers(0, 9),
    "double": st.sampled_from([0.5, 2.0]),
}
SUBSETS = st.sampled_from(["", "a", "ab"])
PRESENT = st.sampled_from([True, True, True, False])


class Table(dict[str, Any]):
    """A dict whose class names its members too: `Name` is `TableName`."""


def drawn(draw: st.DrawFn, shape: Any, depth: int = 5) -> Any:
    """Return what a service may give for a shape: any members, under any name that they have."""
    if shape.type_name == "structure":
        held: dict[str, Any] = {"Unknown": "x"}
        for key in draw(st.lists(st.sampled_from(list(shape.members)), max_size=3)):
            member = shape.members[key]
            name = draw(
                st.sampled_from([key, xform_name(key), member.name, key.removeprefix("Table")])
            )
            held[name] = drawn(draw, member, depth - 1) if depth and draw(PRESENT) else None
        return Table(held) if draw(st.integers(0, 3)) == 0 else held
    if shape.type_name == "list":
        return [drawn(draw, shape.member, depth) for _ in range(draw(st.integers(0, 2)))]
    if shape.type_name == "map":
        return {each: drawn(draw, shape.value, depth) for each in draw(SUBSETS)}
    return draw(LEAVES.get(shape.type_name, st.sampled_from(["", "x"])))


def answer(service: str, operation: str, result: Any, **transformed: Any) -> str:
    """Return the body of moto's answer."""
    model = get_service_model(service).operation_model(operation)
    picker = XFormedAttributePicker(response_transformers=transformed)
    return str(JSONSerializer(model, value_picker=picker).serialize(result)["body"])


@st.composite
def results(draw: st.DrawFn) -> tuple[str, str, Any]:
    """Return a service, one of its operations, and a result of it."""
    service, operation = draw(st.sampled_from(OPERATIONS))
    shape = get_service_model(service).operation_model(operation).output_shape
    return service, operation, drawn(draw, shape)


@settings(max_examples=100)
@given(asked=st.lists(results(), min_size=1, max_size=4))
@example(asked=[("dynamodb", "DescribeTable", {"Table": Table(Name="t")})])
@example(asked=[("dynamodb", "GetItem", {"item": {"pk": {"S": "x"}, "l": {"L": [{"N": "1"}]}}})])
@example(
    asked=[  # two members of one name, and only one of them is `Capacity` too
        ("dynamodb", "DescribeTable", {"Table": {"TableName": "t"}}),
        ("dynamodb", "Query", {"ConsumedCapacity": {"Capacity": {"CapacityUnits": 0.5}}}),
    ]
)
def test_results_are_answered_as_moto_does(asked: list[tuple[str, str, Any]]) -> None:
    plain = [answer(*each) for each in asked]
    with pytest.MonkeyPatch.context() as patch:
        moto_memory.install(patch)
        assert [answer(*each) for each in asked] == plain


def test_what_is_not_there_is_still_transformed() -> None:
    with pytest.MonkeyPatch.context() as patch:
        moto_memory.install(patch)
        said = answer("dynamodb", "Query", {"Count": 1}, ScannedCount=lambda count: count or 7)
    assert said == '{"Count": 1, "ScannedCount": 7}'


def test_sessions_read_a_model_once_and_the_same_as_ever() -> None:
    with pytest.MonkeyPatch.context() as patch:
        moto_memory.install(patch)
        first, second = loaded(), loaded()
    assert first is second
    assert first == loaded()


def loaded() -> Any:
    return Session().get_component("data_loader").load_service_model("sqs", "service-2")
