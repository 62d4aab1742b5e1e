"""Moto with cheap snapshots against moto as it comes: the same tables and errors, whatever is done.

Nothing of the project is tested here, but what its tests believe of transactions rests on it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from moto.core.exceptions import JsonRESTError, ServiceException
from moto.dynamodb.exceptions import TransactionCanceledException
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table

from tests import moto_memory, moto_snapshots

Action = dict[str, dict[str, Any]]
REGION = "us-east-1"

UPDATES = (
    "SET n = n + :one",
    "ADD n :one",
    "ADD words :words",
    "DELETE words :words",
    "SET more = words",
    "SET tree.leaf = :one, n = :one",
    "SET tree.line = list_append(tree.line, :line)",
    "REMOVE tree.line[0], more",
    "SET pk = :one",
)
"""The last is refused, the one before it may find nothing to remove."""
CONDITIONS = (None, None, None, "attribute_exists(pk)", "attribute_not_exists(pk)", "n > :one")
VALUES = {":one": {"N": "1"}, ":words": {"SS": ["a", "b"]}, ":line": {"L": [{"S": "x"}]}}
REST: dict[str, Any] = {
    "n": {"N": "1"},
    "words": {"SS": ["b", "c"]},
    "tree": {"M": {"leaf": {"N": "0"}, "line": {"L": [{"S": "y"}]}}},
}

TABLES = ("pairs", "singles", "streamed")
KEYS = st.fixed_dictionaries({"pk": st.sampled_from("ab"), "sk": st.sampled_from("xy")})


@st.composite
def actions(draw: st.DrawFn) -> Action:
    """Return one action; of many some have a key too little, or one of the wrong type."""
    table = draw(st.sampled_from(TABLES))
    key: dict[str, Any] = {name: {"S": text} for name, text in draw(KEYS).items()}
    if table == "singles":
        del key["sk"]
    odd = draw(st.sampled_from(["no"] * 36 + ["missing", "number", "arn", "unknown"]))
    if odd == "missing":
        key.popitem()
    elif odd == "number":
        key["pk"] = {"N": "1"}
    elif odd in {"arn", "unknown"}:
        table = f"arn:aws:dynamodb:{REGION}:1:table/{table}" if odd == "arn" else odd
    kind = draw(st.sampled_from(["Put", "Update", "Update", "Delete", "ConditionCheck"]))
    op: dict[str, Any] = {"TableName": table, "ExpressionAttributeValues": VALUES}
    op |= {"Item": {**key, **REST}} if kind == "Put" else {"Key": key}
    if kind == "Update":
        op["UpdateExpression"] = draw(st.sampled_from(UPDATES))
    condition = draw(st.sampled_from(CONDITIONS if kind != "ConditionCheck" else CONDITIONS[3:]))
    if condition:
        op |= {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return {kind: op}


def made() -> DynamoDBBackend:
    """Return a backend of its own: keys in pairs, with an index; keys alone; one with a stream."""
    backend = DynamoDBBackend(REGION, "1")
    for name in TABLES:
        names = ["pk"] if name == "singles" else ["pk", "sk"]
        types = zip(names, ("HASH", "RANGE"), strict=False)
        schema = [{"AttributeName": each, "KeyType": kind} for each, kind in types]
        index = {"IndexName": "i", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
        backend.create_table(
            name, schema, None, [{"AttributeName": each, "AttributeType": "S"} for each in names],
            [index], None,
            {"StreamViewType": "NEW_AND_OLD_IMAGES"} if name == "streamed" else None,
            "PAY_PER_REQUEST", None, [], False, None,
        )  # fmt: skip
        for first, second in ("ax", "ay", "bx"):
            key = {"pk": {"S": first}, "sk": {"S": second}}
            item = {**{each: key[each] for each in names}, **REST}
            backend.put_item(name, copy.deepcopy(item))  # moto keeps the lists that it is given
        backend.update_time_to_live(name, {"Enabled": True, "AttributeName": "n"})
    return backend


def picture(backend: DynamoDBBackend) -> str:
    """Return all that a table holds, in moto's order, the empty places of what was read too."""
    return json.dumps({name: list(_told(table)) for name, table in backend.tables.items()})


def _told(table: Table) -> Iterator[Any]:
    yield {**table.describe(), "TableDescription": None, "ttl": table.ttl, "count": len(table)}
    yield [vars(index) for index in table.all_indexes()]
    for first, held in table.items.items():
        rest: Any = held.items() if table.range_key_attr else [(None, held)]
        yield first.value, [(each and each.value, item.to_json()) for each, item in rest]
    if table.stream_shard:
        assert table.stream_shard.table is table
        for record in table.stream_shard.get(table.stream_shard.starting_sequence_number, 1000):
            facts = record["dynamodb"]
            images = facts.get("OldImage"), facts.get("NewImage")
            yield record["eventName"], facts["SequenceNumber"], facts["Keys"], images


def done(backend: DynamoDBBackend, transactions: list[list[Action]]) -> Iterator[Any]:
    """Yield after each transaction what it raised and what there is."""
    for each in copy.deepcopy(transactions):
        raised: tuple[str, str] | None = None
        try:
            backend.transact_write_items(each)
        except (JsonRESTError, ServiceException, KeyError) as error:
            raised = type(error).__name__, str(vars(error))
        yield raised, picture(backend)


ADDED: Action = {
    "Update": {
        "TableName": "pairs",
        "Key": {"pk": {"S": "a"}, "sk": {"S": "x"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": VALUES,
    }
}
REFUSED: Action = {
    "ConditionCheck": {
        "TableName": "pairs",
        "Key": {"pk": {"S": "b"}, "sk": {"S": "x"}},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
}
BY_ARN: Action = {
    "Update": {**ADDED["Update"], "TableName": f"arn:aws:dynamodb:{REGION}:1:table/pairs"}
}


@settings(max_examples=120)
@example([[BY_ARN, REFUSED]])
@given(st.lists(st.lists(actions(), min_size=1, max_size=4), min_size=1, max_size=6))
def test_whatever_is_written_tables_and_errors_are_motos(transactions: list[list[Action]]) -> None:
    plain = list(done(made(), transactions))
    with pytest.MonkeyPatch.context() as patch:
        moto_snapshots.install(patch)
        moto_memory.install(patch)
        assert list(done(made(), transactions)) == plain


def test_only_what_a_transaction_touches_is_copied() -> None:
    backend = made()
    before = {id(item): str(item) for item in backend.tables["pairs"].all_items()}
    with pytest.MonkeyPatch.context() as patch:
        moto_snapshots.install(patch)
        with pytest.raises(TransactionCanceledException):
            backend.transact_write_items([ADDED, REFUSED])
        after = backend.tables["pairs"].all_items()
    assert [str(item) for item in after] == list(before.values())
    assert [id(item) in before for item in after] == [False, True, False]


def test_a_backup_shares_nothing_with_its_table() -> None:
    backend = made()
    with pytest.MonkeyPatch.context() as patch:
        moto_snapshots.install(patch)
        backend.transact_write_items([ADDED])
        backup = backend.create_backup("pairs", "b").table
    held = {id(item) for item in backend.tables["pairs"].all_items()}
    assert [str(item) for item in backup.all_items()] == [
        str(item) for item in backend.tables["pairs"].all_items()
    ]
    assert not held & {id(item) for item in backup.all_items()}
    assert backup.ttl == backend.tables["pairs"].ttl is not backup.ttl
