"""What a write does, as plain values: one action each, all of a write or none of it.

A condition is written in DynamoDB's own language (docs.aws.amazon.com: Expressions.
OperatorsAndFunctions), names beginning with `#`, values with `:`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

Item = dict[str, Any]

_NAME = re.compile(r"#(\w+)")
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Action:
    """One element of a write."""

    kind: Literal["Put", "Update", "Delete", "ConditionCheck"]
    pk: str
    sk: str
    condition: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of the condition, by `:name`."""
    item: Mapping[str, Any] = field(default_factory=dict)
    """Of a Put: the whole item with its keys; attributes that are None are left out."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Of an Update: each attribute's new value; None removes it."""
    adds: Mapping[str, int] = field(default_factory=dict)
    """Of an Update: what is added to numbers; one that is absent counts as 0."""
    table: str | None = None
    """None: the table it is written through."""


def put(
    item: Mapping[str, Any],
    condition: str = "",
    values: Mapping[str, Any] = _NOTHING,
    *,
    table: str | None = None,
) -> Action:
    """Return the writing of a whole item."""
    kept = {name: value for name, value in item.items() if value is not None}
    return Action("Put", item["pk"], item["sk"], condition, values, item=kept, table=table)


def update(
    pk: str,
    sk: str,
    changes: Mapping[str, Any],
    condition: str,
    values: Mapping[str, Any] = _NOTHING,
    *,
    adds: Mapping[str, int] = _NOTHING,
    table: str | None = None,
) -> Action:
    """Return the changing of some attributes."""
    return Action(
        "Update", pk, sk, condition, values, changes=changes, adds=adds, table=table
    )  # fmt: skip


def delete(pk: str, sk: str, condition: str = "", values: Mapping[str, Any] = _NOTHING) -> Action:
    """Return the removing of an item."""
    return Action("Delete", pk, sk, condition, values)


def check(pk: str, sk: str, condition: str, values: Mapping[str, Any] = _NOTHING) -> Action:
    """Return a condition on an item that is not written."""
    return Action("ConditionCheck", pk, sk, condition, values)


def wire(action: Action, table: str) -> dict[str, Any]:
    """Return the parameters DynamoDB takes for an action, without its kind."""
    names = set(_NAME.findall(action.condition)) | set(action.changes) | set(action.adds)
    values = dict(action.values)
    body: dict[str, Any] = {
        "TableName": action.table or table,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if action.kind == "Put":
        body["Item"] = packed(action.item)
    else:
        body["Key"] = packed({"pk": action.pk, "sk": action.sk})
    if action.kind == "Update":
        body["UpdateExpression"] = _expression(action, values)
    if action.condition:
        body["ConditionExpression"] = action.condition
    if names:
        body["ExpressionAttributeNames"] = {f"#{name}": name for name in sorted(names)}
    if values:
        body["ExpressionAttributeValues"] = packed(values)
    return body


def _expression(action: Action, values: dict[str, Any]) -> str:
    """Return an update expression; its values join `values`."""
    sets, removes = [], []
    for name, value in action.changes.items():
        if value is None:
            removes.append(f"#{name}")
        else:
            sets.append(f"#{name} = :set_{name}")
            values[f":set_{name}"] = value
    added = [f"#{name} :add_{name}" for name in action.adds]
    values.update({f":add_{name}": amount for name, amount in action.adds.items()})
    parts = {"SET": sets, "REMOVE": removes, "ADD": added}
    return " ".join(f"{word} {', '.join(part)}" for word, part in parts.items() if part)


def packed(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item in DynamoDB's wire form."""
    serialize = TypeSerializer().serialize
    return {name: serialize(value) for name, value in item.items()}


def unpacked(item: Mapping[str, Any]) -> Item:
    """Return an item from DynamoDB's wire form; our numbers are all integers."""
    deserialize = TypeDeserializer().deserialize
    return {name: _plain(deserialize(value)) for name, value in item.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return int(value) if hasattr(value, "as_tuple") else value
