"""Reference sets on moto: a table for each test, and what DynamoDB may answer otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse
from moto.core.models import botocore_stubber

from tests.cloud import create_table
from tests.fakes import FakeClock, FakeIds
from tidegate.doors.dynamo import Table
from tidegate.doors.reference_sets import Loaded, ReferenceSets, Report
from tidegate.doors.references import References
from tidegate.doors.references_dynamodb import DynamoSource

ONCE = Config(retries={"total_max_attempts": 1}, max_pool_connections=20)
"""The SDK's own tries sleep in earnest."""

Answers = Callable[[dict[str, Any]], dict[str, Any] | None]
"""What becomes of a request, given its body: an answer without `_status` 200, or None to let it
pass."""


@dataclass
class Library:
    """A reference table with its doors, and every request to it."""

    client: Any
    name: str
    clock: FakeClock = field(default_factory=FakeClock)
    ids: FakeIds = field(default_factory=lambda: FakeIds(0.5))
    calls: list[str] = field(default_factory=list)
    """Operations, as they were sent."""
    answers: Answers | None = None
    """Of batches alone."""

    def __post_init__(self) -> None:
        self.client.meta.events.register_first("before-send.dynamodb", self._sent)
        self.table = Table(self.client, self.name, self.clock, self.ids)
        self.sets = ReferenceSets(self.table, self.clock, self.ids)
        self.references = self.reader()

    def reader(self) -> References:
        """Return the door of another process, which remembers nothing."""
        source = DynamoSource(self.table, "accounts", self.clock)
        return References({"accounts": source}, self.clock)

    def load(self, members: Iterable[object], report: Report = lambda _written: None) -> Loaded:
        """Load `accounts`."""
        values = [str(member) for member in members]
        return self.sets.load("accounts", values, by="user/moto", why="a test", report=report)

    def known(self, *values: object) -> set[str]:
        """Return which of these are accounts."""
        return set(self.references.known("accounts", frozenset(map(str, values))))

    def items(self) -> list[dict[str, Any]]:
        """Return everything there is."""
        return list(self.table.scan())

    def generations(self) -> set[str]:
        """Return the generations of which any member is there."""
        members = (i for i in self.items() if i["pk"].count("#") > 1)
        return {item["pk"].split("#")[2] for item in members}

    def _sent(self, event_name: str, request: AWSPreparedRequest, **_: Any) -> Any:
        operation = event_name.rpartition(".")[2]
        self.calls.append(operation)
        if self.answers is None or not operation.startswith("Batch"):
            return None
        body: Any = request.body
        answer = self.answers(json.loads(body))
        return None if answer is None else _response(request, answer)


def library(name: str) -> Library:
    """Return an empty table of this name."""
    client = boto3.client("dynamodb", region_name="us-east-1", config=ONCE)
    create_table(client, name, {})
    return Library(client, name)


def busy(_body: dict[str, Any]) -> dict[str, Any]:
    """Answer that there is too much at once."""
    return {"_status": 400, "__type": "ThrottlingException", "message": "Rate exceeded"}


def denied(_body: dict[str, Any]) -> dict[str, Any]:
    """Answer that it is not allowed; AWS may quote anything."""
    return {"_status": 400, "__type": "AccessDeniedException", "message": "not on 4711, no"}


def lost_once(client: Any, operation: str) -> None:
    """Have a call executed, its reply lost; the SDK sends it again."""
    struck: list[bool] = []

    def lose(event_name: str, request: AWSPreparedRequest, **_: Any) -> Any:
        if struck:
            return None
        struck.append(True)
        stubber: BotocoreStubber = botocore_stubber
        stubber(event_name, request)
        return _response(request, {"_status": 500, "__type": "InternalServerError"})

    client.meta.events.register_first(f"before-send.dynamodb.{operation}", lose)


def _response(request: AWSPreparedRequest, answer: dict[str, Any]) -> AWSResponse:
    status = answer.pop("_status", 200)
    # botocore asks every handler and takes the first response: moto must not know this address.
    request.url = "http://not-executed.invalid/"
    raw: Any = MockRawResponse(json.dumps(answer))
    headers: Any = {}
    return AWSResponse(request.url, status, headers, raw)
