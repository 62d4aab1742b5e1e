"""Many items of a DynamoDB table at once; what was not done is asked for again, with patience.

A batch is no transaction: DynamoDB does what it can and hands the rest back, in a reply that is no
error (docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from tidegate.clock import Clock
from tidegate.doors.actions import Action, Item, packed, unpacked
from tidegate.errors import Throttled

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST_READ = 100
MOST_WRITTEN = 25
"""What one request may ask for."""

READ_TRIES = 12
READ_PATIENCE = 3.0
"""Seconds after which no further try of a read begins: somebody waits for it."""

WRITE_TRIES = 100
"""With full jitter up to 0.8 s some forty seconds: an operator would rather wait than begin anew.
"""

_BUSY = frozenset(
    {
        "ThrottlingException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
    }
)

Wanted = list[dict[str, Any]]
"""What of a request is still to be done, in DynamoDB's wire form."""

Each = TypeVar("Each")


class Batches:
    """Requests for many items of one table. `pause` waits before a try anew, given its number."""

    def __init__(
        self, client: DynamoDBClient, table: str, clock: Clock, pause: Callable[[int], None]
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._pause = pause

    def read(self, keys: Sequence[tuple[str, str]]) -> list[Item]:
        """Return those items that there are, read consistently, in any order.

        Raises:
            Throttled: some were still not read after `READ_PATIENCE`.
        """
        found: list[Item] = []
        until = self._clock.now() + READ_PATIENCE
        wanted = [packed({"pk": pk, "sk": sk}) for pk, sk in dict.fromkeys(keys)]
        for some in _parts(wanted, MOST_READ):
            self._insist(lambda left: self._read(left, found), some, READ_TRIES, until)
        return found

    def write(self, actions: Sequence[Action]) -> None:
        """Put and delete; all is done or it raises, and then some may be.

        Raises:
            Throttled: some were still not written after `WRITE_TRIES`.
        """
        for some in _parts([_request(action) for action in actions], MOST_WRITTEN):
            self._insist(self._written, some, WRITE_TRIES)

    def _insist(
        self,
        send: Callable[[Wanted], Wanted],
        wanted: Wanted,
        tries: int,
        until: float = float("inf"),
    ) -> None:
        """Send what is wanted until nothing of it is left."""
        for attempt in range(tries):
            try:
                wanted = send(wanted)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") not in _BUSY:
                    raise
            if not wanted:
                return
            self._pause(attempt)
            if self._clock.now() >= until:
                break
        raise Throttled("DynamoDB kept being asked for more than it gives")

    def _read(self, wanted: Wanted, found: list[Item]) -> Wanted:
        """Add to `found`; return what was not read."""
        asked: Any = {self._table: {"Keys": wanted, "ConsistentRead": True}}
        reply = self._client.batch_get_item(RequestItems=asked)
        found += map(unpacked, reply["Responses"].get(self._table, ()))
        left: Any = reply.get("UnprocessedKeys", {}).get(self._table, {})
        return list(left.get("Keys", ()))

    def _written(self, wanted: Wanted) -> Wanted:
        """Return what was not written."""
        asked: Any = {self._table: wanted}
        reply = self._client.batch_write_item(RequestItems=asked)
        left: Any = reply.get("UnprocessedItems", {}).get(self._table, ())
        return list(left)


def _request(action: Action) -> dict[str, Any]:
    """Return an action as a batch takes it."""
    if action.kind == "Put" and not action.condition:
        return {"PutRequest": {"Item": packed(action.item)}}
    if action.kind == "Delete" and not action.condition:
        return {"DeleteRequest": {"Key": packed({"pk": action.pk, "sk": action.sk})}}
    raise ValueError("a batch takes puts and deletes without conditions")


def _parts(whole: Sequence[Each], most: int) -> Iterator[list[Each]]:
    for first in range(0, len(whole), most):
        yield list(whole[first : first + most])
