"""One fault at one AWS call of the real boto3 clients, by a `before-send` hook over moto.

The hook decides for each try of each call whether it is executed and what comes back, so the SDK's
own retries, its parsing of errors and the code above it are the shipped ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse
from moto.core.models import botocore_stubber

from tidegate.doors.dynamo import CONFLICT_TRIES

READS = frozenset({"GetItem", "BatchGetItem", "Query", "GetObject"})
CONDITIONAL = frozenset({"PutItem", "UpdateItem", "TransactWriteItems"})


class Kind(StrEnum):
    """What happens to one call."""

    REFUSED = "refused"
    """Not executed: the connection breaks at every try of the SDK."""
    LOST = "lost"
    """Executed, the reply is lost once; the SDK sends it again."""
    GONE = "gone"
    """Executed, and no try of the SDK ever gets a reply."""
    BUSY = "busy"
    """Throttled once; a conditional write meets another transaction once."""
    CONTENDED = "contended"
    """A conditional write meets other transactions at every try of ours."""
    DIED = "died"
    """Executed, and the process that made it is dead."""
    DIED_BEFORE = "died before"
    """Not executed, and the process that would have made it is dead."""


def kinds(operation: str) -> list[Kind]:
    """Return the faults that make a difference to an operation."""
    if operation in READS:  # executed or not is the same, and trying again is another read
        return [Kind.REFUSED, Kind.DIED]
    contended = [Kind.CONTENDED] if operation in CONDITIONAL else []
    return [kind for kind in Kind if kind is not Kind.CONTENDED] + contended


class Crash(BaseException):
    """The process is gone: nothing catches it, and whatever it would still do has no effect."""


@dataclass(frozen=True)
class Fault:
    """One kind at one call, by its number from 1."""

    number: int
    kind: Kind


@dataclass
class Wire:
    """Every call of the clients it is tied to, by name, and the fault of this run."""

    fault: Fault | None = None
    calls: list[str] = field(default_factory=list)
    """What was called while it watched: `TransactWriteItems-claims.create`."""
    watching: bool = True
    dead: bool = False
    """Whether the actor at work has died."""
    struck: bool = False
    _again: str = ""
    """The call that is failed until its caller gives up."""
    _failed: int = 0

    def begin(self, fault: Fault | None) -> None:
        """Forget the run before."""
        self.fault, self.calls = fault, []
        self.watching, self.dead, self.struck, self._again, self._failed = True, False, False, "", 0

    def tie(self, client: Any) -> Any:
        """Return the client, its requests seen here before moto sees them."""
        client.meta.events.register_first("before-send", self)
        return client

    @contextmanager
    def actor(self) -> Iterator[None]:
        """Run one process; those inside one another die on their own."""
        outer, self.dead = self.dead, False
        try:
            yield
        finally:
            self.dead = outer

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Let calls pass that are a test's own."""
        before, self.watching = self.watching, False
        try:
            yield
        finally:
            self.watching = before

    def die(self) -> None:
        """End the actor at work."""
        self.dead = self.struck = True
        raise Crash

    def alive(self) -> None:
        """Let a dead actor do nothing more."""
        if self.dead:
            raise Crash

    def __call__(self, event_name: str, request: AWSPreparedRequest, **_: Any) -> Any:
        """Return the response of one try, or raise; None lets moto answer."""
        self.alive()
        if not self.watching:
            return None
        operation = event_name.rpartition(".")[2]
        tried = _tries(request)
        if tried == 1:
            self.calls.append(f"{operation}-{door()}")
        if self.fault is None or not self._hit():
            return None
        return self._strike(self.fault.kind, operation, event_name, request, tried)

    def _hit(self) -> bool:
        assert self.fault is not None
        if self.fault.kind is Kind.CONTENDED and self.struck:
            return self.calls[-1] == self._again and self._failed < CONFLICT_TRIES
        return len(self.calls) == self.fault.number

    def _strike(
        self, kind: Kind, operation: str, event_name: str, request: AWSPreparedRequest, tried: int
    ) -> Any:
        self.struck, self._again = True, self.calls[-1]
        self._failed += 1
        if kind is Kind.CONTENDED or (kind is Kind.BUSY and tried == 1):
            return busy(operation, request)
        if kind is Kind.BUSY or (kind is Kind.LOST and tried > 1):
            return None
        if kind is Kind.DIED_BEFORE:
            self.die()
        if kind is not Kind.REFUSED and tried == 1:
            stubber: BotocoreStubber = botocore_stubber
            stubber(event_name, request)
        if kind is Kind.DIED:
            self.die()
        raise ConnectionClosedError(endpoint_url=request.url)


def _tries(request: AWSPreparedRequest) -> int:
    """Return which try of the SDK this is, from 1."""
    said: Any = request.headers["amz-sdk-request"]
    text = said.decode() if isinstance(said, bytes) else said
    return int(dict(part.strip().split("=") for part in text.split(";"))["attempt"])


def door() -> str:
    """Return which method of which door is calling: the outermost one on the stack."""
    frame, code = sys._getframe(), None
    while frame is not None:
        if "/tidegate/doors/" in frame.f_code.co_filename:
            code = frame.f_code
        frame = frame.f_back  # type: ignore[assignment]
    return "none" if code is None else f"{PurePath(code.co_filename).stem}.{code.co_name}"


def busy(operation: str, request: AWSPreparedRequest) -> AWSResponse:
    """Return what AWS answers when there is too much at once; the request is not executed."""
    status, body = 400, {"__type": "ThrottlingException", "message": "Rate exceeded"}
    if operation == "PutObject" or operation == "GetObject":
        text = "<Error><Code>SlowDown</Code><Message>Please reduce your rate</Message></Error>"
        return _response(request, 503, text)
    if operation == "SendMessage":
        body["__type"] = "com.amazonaws.sqs#RequestThrottled"
    elif operation in {"PutItem", "UpdateItem"}:
        body["__type"] = "com.amazonaws.dynamodb.v20120810#TransactionConflictException"
    elif operation == "TransactWriteItems":
        return _response(request, 400, json.dumps(_cancelled(request)))
    return _response(request, status, json.dumps(body))


def _cancelled(request: AWSPreparedRequest) -> dict[str, Any]:
    body: Any = request.body
    actions = len(json.loads(body)["TransactItems"])
    reasons = [{"Code": "None"} for _ in range(actions)]
    reasons[-1] = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
    return {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons",
        "CancellationReasons": reasons,
    }


def _response(request: AWSPreparedRequest, status: int, body: str) -> AWSResponse:
    # botocore asks every handler and takes the first response: moto must not know this address.
    request.url = "http://not-executed.invalid/"
    return AWSResponse(request.url, status, {}, MockRawResponse(body))  # type: ignore[arg-type]
