"""One DynamoDB table: consistent reads, conditional writes, transactions with every reason read.

A failed condition is an answer (`ConditionFailed`, with the item that is there); a conflict with
another transaction is not: it is retried with jitter and only then reported (`Conflict`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tidegate.clock import Clock, Ids
from tidegate.doors.actions import Action, Item, packed, unpacked, wire
from tidegate.doors.batches import Batches
from tidegate.errors import Conflict, DoorError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONFLICT_TRIES = 12
"""Tries of one write against conflicts; with full jitter up to 0.8 s some 3 s in all. Fifty
transactions on one partner's balance at once have passed by then."""

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
        self.name = name
        self._clock = clock
        self._ids = ids
        self._batches = Batches(client, name, clock, self._pause)

    def get(self, pk: str, sk: str) -> Item | None:
        """Return an item, read consistently, or None."""
        reply = self._client.get_item(
            TableName=self.name, Key=packed({"pk": pk, "sk": sk}), ConsistentRead=True
        )
        return unpacked(reply["Item"]) if "Item" in reply else None

    def get_many(self, keys: Sequence[tuple[str, str]]) -> list[Item]:
        """Return those items of many keys that there are, read consistently, in any order.

        Raises:
            Throttled: there was too much at once, for some three seconds.
        """
        return self._batches.read(keys)

    def query(self, pk: str, first: str, last: str) -> Iterator[Item]:
        """Yield the items of `pk` with `first` <= sk <= `last`, read consistently, page by page."""
        return self._pages(
            "query",
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues=packed({":pk": pk, ":first": first, ":last": last}),
            ConsistentRead=True,
        )

    def due(self, shard: str, until: int) -> Iterator[Item]:
        """Yield the keys of what is due in a shard of index `due`, the oldest first.

        An index lags behind its table: what is yielded is a hint, to be read again.
        """
        return self._pages(
            "query",
            IndexName="due",
            KeyConditionExpression="due_shard = :shard AND due_at <= :until",
            ExpressionAttributeValues=packed({":shard": shard, ":until": until}),
        )

    def scan(self) -> Iterator[Item]:
        """Yield every item of the table: for an operator's audit, never for a function."""
        return self._pages("scan", ConsistentRead=True)

    def write(self, actions: Sequence[Action]) -> None:
        """Do all actions or none.

        Raises:
            ConditionFailed: a condition did not hold.
            Conflict: others kept writing the same items.
        """
        for attempt in range(CONFLICT_TRIES):
            try:
                self._send(actions)
            except ClientError as error:
                raise_if_condition(error)
                self._pause(attempt)
            else:
                return
        raise Conflict("the items kept being written by others")

    def write_each(self, actions: Sequence[Action]) -> None:
        """Do puts and deletes that have no condition, each by itself: some may be done, others not.

        For an operator's command, which may be given again. Many at once are what it is good for.

        Raises:
            Throttled: there was too much at once, for the better part of a minute.
        """
        self._batches.write(actions)

    def _pause(self, attempt: int) -> None:
        self._clock.sleep(self._ids.fraction() * backoff(attempt))

    def _send(self, actions: Sequence[Action]) -> None:
        kind, params = actions[0].kind, wire(actions[0], self.name)
        if len(actions) == 1 and kind == "Put":
            self._client.put_item(**params)
        elif len(actions) == 1 and kind == "Update":
            self._client.update_item(**params)
        else:
            items: Any = [{action.kind: wire(action, self.name)} for action in actions]
            self._client.transact_write_items(TransactItems=items)

    def _pages(self, operation: str, **params: Any) -> Iterator[Item]:
        paginator = self._client.get_paginator(operation)  # type: ignore[call-overload]
        for page in paginator.paginate(TableName=self.name, **params):
            yield from map(unpacked, page["Items"])


def backoff(attempt: int) -> float:
    """Return the seconds that is waited at most after the failed try number `attempt`, from 0."""
    return float(min(0.8, 0.025 * 2**attempt))


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
