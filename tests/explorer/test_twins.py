"""The doors in memory behave as the real ones, where Tidegate depends on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from tests.explorer.conditions import compiled
from tests.explorer.hub import Hub
from tests.explorer.memory_keys import Keys
from tests.explorer.memory_valkey import MemoryValkey
from tests.properties import ONE_SERVER
from tidegate.doors.actions import packed
from tidegate.doors.valkey import Script, Valkey, Values

NAMES = st.sampled_from(["a", "b", "c"])
AGES = {"a": 5, "b": 1_000, "c": 999_999_999_999_999}
"""Milliseconds: when an answer was made, an epoch began."""
LONG = 60_000
CALLS = st.one_of(
    st.tuples(st.just("lease_take"), NAMES),
    st.tuples(st.just("lease_release"), NAMES),
    st.tuples(st.just("stage"), NAMES),
    st.tuples(st.just("promote"), NAMES),
    st.tuples(st.just("refresh_begin"), NAMES),
    st.tuples(st.just("remove_if"), NAMES),
    st.tuples(st.just("epochs_raise"), NAMES),
    st.tuples(st.just("get_many"), NAMES),
    st.tuples(st.just("together"), NAMES),
)


def _memory() -> MemoryValkey:
    return MemoryValkey(Hub(), Keys(lambda: round(time.time() * 1000)))


def _done(door: Any, tag: str, call: str, name: str) -> Any:
    lease = f"{{{tag}}}:lease"
    names = ("stage", "result", "pending", "negative")
    stage, result, pending, negative = keys = [f"{{{tag}}}:{n}" for n in names]
    match call:
        case "lease_take":
            return door.run(call, [lease], [name, LONG])[0]
        case "lease_release":
            return door.run(call, [lease], [name])
        case "stage":
            door.set(stage, name, 60)
            door.set(pending, name, 60)
            return door.set(negative, name, 60)
        case "promote":
            at = AGES[name]
            return door.run(call, keys, [f"tg2 {at:015d} checked {name}", LONG, at])
        case "refresh_begin":
            return door.run(call, [f"{{{tag}}}:refresh"], [name, AGES[name], LONG])
        case "remove_if":
            return door.run(call, [result], [f"tg2 {AGES[name]:015d} checked {name}"])
        case "epochs_raise":
            at = AGES[name]
            return door.run(call, [f"{{{tag}}}:1", f"{{{tag}}}:2"], [at, 5, LONG])
        case "together":  # of two tags, as accepting asks
            other = f"{{{tag}-other}}:1"
            raised = Script("epochs_raise", (other,), (AGES[name], LONG))
            told = door.together([Values((stage, result)), raised, Values((negative,))])
            return told, door.get(other)  # in which order they are executed is not said
        case _:
            return door.get_many([*keys, f"{{{tag}}}:1", f"{{{tag}}}:2"])


@settings(max_examples=60, suppress_health_check=ONE_SERVER)
@given(calls=st.lists(CALLS, max_size=25))
def test_the_scripts_twins_do_what_the_scripts_do(
    valkey: Valkey, calls: list[tuple[str, str]]
) -> None:
    memory, tag = _memory(), f"t{time.monotonic_ns()}"
    for call, name in calls:
        assert _done(memory, tag, call, name) == _done(valkey, tag, call, name), calls


def test_a_lease_that_has_ended_is_free_in_both(valkey: Valkey) -> None:
    memory = _memory()
    for door in (memory, valkey):
        assert door.run("lease_take", ["{x}:lease"], ["a", 30])[0] == 1
        taken, left = door.run("lease_take", ["{x}:lease"], ["b", 30])
        assert taken == 0
        assert 0 < left <= 30
        time.sleep(0.05)
        assert door.run("lease_take", ["{x}:lease"], ["b", 30])[0] == 1


CONDITIONS = (
    "attribute_not_exists(pk)",
    "attribute_not_exists(pk) OR #until < :now",
    "attribute_not_exists(pk) OR #until < :now OR #job_id = :text",
    "attribute_not_exists(pk) OR #job_id = :text",
    "#token = :text",
    "attribute_not_exists(#token) OR #until < :now OR #token = :text",
    "#attempt = :now AND #version = :other",
    "attribute_not_exists(pk) OR #version = :other",
    "#attempt = :now AND #version = :other"
    " AND (attribute_not_exists(#until) OR #until <= :now OR #until = :other)",
    "attribute_exists(pk) AND attribute_not_exists(#token)"
    " AND (attribute_not_exists(#until) OR #until < :now)",
    "#until >= :now",
    "attribute_exists(#until) AND NOT (#job_id = :text OR #until <= :now)",
)
"""Those that occur, with their values renamed, and one of everything else the grammar has."""

SMALL = st.integers(0, 2)
ITEMS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "until": SMALL, "job_id": NAMES, "token": NAMES,
            "attempt": SMALL, "version": SMALL,
        },
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patched, mock_aws():
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, "test")
        patched.delenv("AWS_ENDPOINT_URL", raising=False)
        client = boto3.client("dynamodb", region_name="us-east-1")
        client.create_table(
            TableName="t",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
        yield client


@pytest.mark.parametrize("condition", CONDITIONS)
@settings(max_examples=40, deadline=None)
@given(item=ITEMS, now=SMALL, other=SMALL, text=NAMES)
def test_a_condition_holds_where_dynamodb_says_so(
    dynamodb: Any, condition: str, item: dict[str, Any] | None, now: int, other: int, text: str
) -> None:
    names = {name for name in ("until", "job_id", "token", "attempt", "version")
             if f"#{name}" in condition}  # fmt: skip
    values = {":now": now, ":other": other, ":text": text}
    values = {name: value for name, value in values.items() if name in condition}
    dynamodb.delete_item(TableName="t", Key=packed({"pk": "x"}))
    if item is not None:
        dynamodb.put_item(TableName="t", Item=packed({"pk": "x", **item}))
    expected = True
    try:
        dynamodb.put_item(
            TableName="t",
            Item=packed({"pk": "x"}),
            ConditionExpression=condition,
            **({"ExpressionAttributeNames": {f"#{n}": n for n in names}} if names else {}),
            **({"ExpressionAttributeValues": packed(values)} if values else {}),
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise
        expected = False
    there = {} if item is None else {"pk": "x", **item}
    assert compiled(condition)(there, values) is expected
