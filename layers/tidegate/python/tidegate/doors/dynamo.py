"""One DynamoDB table: consistent reads, conditional writes, transactions with every reason read.

A failed condition is an answer (`ConditionFailed`, with the item that is there); a conflict with
another transaction is not: it is retried with jitter and only then reported (`Conflict`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

from tidegate.clock import Clock, Ids
from tidegate.errors import Conflict, DoorError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]
Action = dict[str, Any]
"""One element of TransactItems, without its table."""

CONFLICT_TRIES = 8
"""Tries of one write against conflicts; with full jitter up to 0.4 s some 1.5 s in all."""

_PASSING = frozenset(
    {
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
        "ThrottlingError",
        "ThrottlingException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
    }
)


class ConditionFailed(DoorError):
    """A condition did not hold; nothing was written.

    `found` has one entry per action: the item that is there (`{}` if none) where the action's own
    condition failed, None where it did not.
    """

    def __init__(self, found: Sequence[Item | None]) -> None:
        super().__init__("a condition did not hold")
        self.found = found


class Table:
    """A table with keys `pk` and `sk`."""

    def __init__(self, client: DynamoDBClient, name: str, clock: Clock, ids: Ids) -> None:
        self._client = client
        self._name = name
        self._clock = clock
        self._ids = ids

    def get(self, pk: str, sk: str) -> Item | None:
        """Return an item, read consistently, or None."""
        reply = self._client.get_item(
            TableName=self._name, Key=packed({"pk": pk, "sk": sk}), ConsistentRead=True
        )
        return unpacked(reply["Item"]) if "Item" in reply else None

    def query(self, pk: str, first: str, last: str) -> list[Item]:
        """Return the items of `pk` with `first` <= sk <= `last`, read consistently."""
        reply = self._client.query(
            TableName=self._name,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues=packed({":pk": pk, ":first": first, ":last": last}),
            ConsistentRead=True,
        )
        return [unpacked(item) for item in reply["Items"]]

    def write(self, actions: Sequence[Action]) -> None:
        """Do all actions or none.

        Raises:
            ConditionFailed: a condition did not hold.
            Conflict: others kept writing the same items.
        """
        named = [
            {
                kind: {
                    **body,
                    "TableName": self._name,
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            }
            for action in actions
            for kind, body in action.items()
        ]
        if len(named) == 1 and "Put" in named[0]:
            put = named[0]["Put"]
            self._persist(lambda: self._client.put_item(**put))
        elif len(named) == 1 and "Update" in named[0]:
            update = named[0]["Update"]
            self._persist(lambda: self._client.update_item(**update))
        else:
            items: Any = named
            self._persist(lambda: self._client.transact_write_items(TransactItems=items))

    def _persist(self, send: Callable[[], object]) -> None:
        for attempt in range(CONFLICT_TRIES):
            try:
                send()
            except ClientError as error:
                raise_if_condition(error)
                self._clock.sleep(self._ids.fraction() * min(0.4, 0.025 * 2**attempt))
            else:
                return
        raise Conflict("the items kept being written by others")


def raise_if_condition(error: ClientError) -> None:
    """Return if sending the same write again may succeed.

    Raises:
        ConditionFailed: the write's own condition did not hold.
        ClientError: anything else that trying again would not cure.
    """
    code = error.response.get("Error", {}).get("Code", "")
    response: Mapping[str, Any] = error.response
    if code == "ConditionalCheckFailedException":
        raise ConditionFailed([unpacked(response.get("Item", {}))]) from error
    if code == "TransactionCanceledException":
        reasons = response.get("CancellationReasons", [])
        found = [
            unpacked(reason.get("Item", {})) if reason["Code"] == "ConditionalCheckFailed" else None
            for reason in reasons
        ]
        if any(item is not None for item in found):
            raise ConditionFailed(found) from error
        codes = {reason["Code"] for reason in reasons} - {"None"}
        if codes and codes <= _PASSING:
            return
        raise error
    if code not in _PASSING:
        raise error


def put(
    item: Mapping[str, Any], condition: str = "", values: Mapping[str, Any] | None = None
) -> Action:
    """Return a Put without the attributes that are None; a condition's names start with `#`."""
    body: Action = {"Item": packed({k: v for k, v in item.items() if v is not None})}
    return {"Put": _conditioned(body, condition, values or {})}


def update(
    pk: str,
    sk: str,
    changes: Mapping[str, Any],
    condition: str,
    values: Mapping[str, Any] | None = None,
) -> Action:
    """Return an Update that sets each attribute to its value, and removes those that are None."""
    sets = [f"#{name} = :set_{name}" for name, value in changes.items() if value is not None]
    removes = [f"#{name}" for name, value in changes.items() if value is None]
    expression = ("SET " + ", ".join(sets) if sets else "") + (
        " REMOVE " + ", ".join(removes) if removes else ""
    )
    settings = {f":set_{name}": value for name, value in changes.items() if value is not None}
    body: Action = {"Key": packed({"pk": pk, "sk": sk}), "UpdateExpression": expression.strip()}
    return {"Update": _conditioned(body, condition, {**settings, **(values or {})}, changes)}


def delete(
    pk: str, sk: str, condition: str = "", values: Mapping[str, Any] | None = None
) -> Action:
    """Return a Delete."""
    body: Action = {"Key": packed({"pk": pk, "sk": sk})}
    return {"Delete": _conditioned(body, condition, values or {})}


def _conditioned(
    body: Action, condition: str, values: Mapping[str, Any], names: Mapping[str, Any] | None = None
) -> Action:
    used = set(names or {}) | {
        word.strip("(),")[1:] for word in condition.replace("(", " ").split() if word[0] == "#"
    }
    if condition:
        body["ConditionExpression"] = condition
    if used:
        body["ExpressionAttributeNames"] = {f"#{name}": name for name in sorted(used)}
    if values:
        body["ExpressionAttributeValues"] = packed(values)
    return body


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
