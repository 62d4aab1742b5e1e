"""SQS in memory, behind the shipped `doors.queue.Queue`: at least once, visibility, redrive."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from tests.explorer.hub import Hub

MAX_RECEIVES = 6
"""The deployed queues allow 10; what more returns of a dead letter add is more of the same."""
URL = "https://sqs/tg-"

SEND = ("crash", "error", "twice", "lost", "dropped", "stall")
CHANGE = ("crash", "error", "lost")
RECEIVE = ("error",)
DELIVER = ("doubled",)


@dataclass
class Stored:
    """A message in a queue."""

    id: str
    body: str
    group: str
    attributes: dict[str, Any]
    sent_ms: int
    visible_ms: int
    receives: int = 0
    receipt: str = ""
    source: str | None = None
    """The queue it was moved from by the redrive policy."""


@dataclass
class Sqs:
    """Every queue, by URL."""

    hub: Hub
    visibility_ms: int
    wake: Callable[[str], None] = lambda _url: None
    """Told of a queue in which something has become visible."""
    redriven: frozenset[str] = frozenset()
    """Queues with a redrive policy."""
    taken: Callable[[str, str], None] = lambda _url, _body: None
    """Told of each message that a queue takes."""
    queues: dict[str, dict[str, Stored]] = field(default_factory=dict)
    dropped: int = 0
    _names: Any = field(default_factory=lambda: itertools.count(1))

    def reset(self) -> None:
        """Be empty."""
        self.queues.clear()
        self.dropped = 0
        self._names = itertools.count(1)

    def put(self, url: str, body: str, group: str, attributes: dict[str, Any], delay: int) -> None:
        """Take a message."""
        now = self.hub.ms
        name = f"m{next(self._names)}"
        stored = Stored(name, body, group, attributes, now, now + delay * 1000)
        self.taken(url, body)
        self._place(url, stored)

    def receive(self, url: str, millis: int | None = None) -> Stored | None:
        """Return a visible message, hidden from here on; moves those received too often."""
        for stored in list(self.queues.get(url, {}).values()):
            if stored.visible_ms > self.hub.ms:
                continue
            stored.receives += 1
            if stored.receives > MAX_RECEIVES and url in self.redriven:
                del self.queues[url][stored.id]
                stored.source = url
                dlq = url.removesuffix("-low") + "-dlq"
                self.queues.setdefault(dlq, {})[stored.id] = stored
                continue
            stored.receipt = f"{stored.id}.{stored.receives}"
            self.hide(url, stored, self.visibility_ms if millis is None else millis)
            return stored
        return None

    def hide(self, url: str, stored: Stored, millis: int) -> None:
        """Make a message visible again after a time."""
        stored.visible_ms = self.hub.ms + millis
        self.hub.at(stored.visible_ms, lambda: self.wake(url))

    def delete(self, url: str, receipt: str) -> None:
        """Remove a message; one that is gone is gone."""
        self.queues.get(url, {}).pop(receipt.partition(".")[0], None)

    def redrive(self, url: str) -> int:
        """Move a DLQ's messages back by hand (`StartMessageMoveTask`): each is sent anew."""
        moved = list(self.queues.get(f"{url}-dlq", {}).values())
        self.queues[f"{url}-dlq"] = {}
        for stored in moved:
            self.put(url, stored.body, stored.group, stored.attributes, 0)
        return len(moved)

    def _place(self, url: str, stored: Stored) -> None:
        self.queues.setdefault(url, {})[stored.id] = stored
        self.hub.at(stored.visible_ms, lambda: self.wake(url))

    # What follows is the part of boto3's client that the doors use.

    def send_message(self, **asked: Any) -> dict[str, str]:
        """Take a message."""
        url = asked["QueueUrl"]
        fault = self.hub.choose(f"sqs.send {url.removeprefix(URL)}", SEND)
        if fault == "error":
            raise EndpointConnectionError(endpoint_url="https://sqs")
        for _ in range(2 if fault == "twice" else 1):
            if fault == "dropped":
                self.dropped += 1
                break
            self.put(
                url,
                asked["MessageBody"],
                asked.get("MessageGroupId", ""),
                asked.get("MessageAttributes", {}),
                int(asked.get("DelaySeconds", 0)),
            )
        if fault == "lost":
            raise ReadTimeoutError(endpoint_url="https://sqs")
        return {"MessageId": "sent"}

    def change_message_visibility(self, **asked: Any) -> None:
        """Let a message that is in flight come again at another time."""
        fault = self.hub.choose("sqs.hand_back", CHANGE)
        if fault == "error":
            raise EndpointConnectionError(endpoint_url="https://sqs")
        url = asked["QueueUrl"]
        stored = self.queues.get(url, {}).get(asked["ReceiptHandle"].partition(".")[0])
        if stored is None or stored.visible_ms <= self.hub.ms:
            reason = "Value for parameter ReceiptHandle is invalid: not in flight"
            raise ClientError(
                {"Error": {"Code": "InvalidParameterValue", "Message": reason}},
                "ChangeMessageVisibility",
            )
        self.hide(url, stored, int(asked["VisibilityTimeout"]) * 1000)
        if fault == "lost":
            raise ReadTimeoutError(endpoint_url="https://sqs")

    def receive_message(self, **asked: Any) -> dict[str, Any]:
        """Return messages that are visible."""
        if self.hub.choose("sqs.receive", RECEIVE):
            raise EndpointConnectionError(endpoint_url="https://sqs")
        found: list[dict[str, Any]] = []
        while len(found) < asked["MaxNumberOfMessages"]:
            stored = self.receive(asked["QueueUrl"], asked["VisibilityTimeout"] * 1000)
            if stored is None:
                break
            found.append(
                {
                    "MessageId": stored.id,
                    "ReceiptHandle": stored.receipt,
                    "Body": stored.body,
                    "Attributes": {"SentTimestamp": str(stored.sent_ms)},
                }
            )
        return {"Messages": found}

    def delete_message(self, **asked: Any) -> None:
        """Remove a message."""
        fault = self.hub.choose("sqs.delete_message", CHANGE)
        if fault == "error":
            raise EndpointConnectionError(endpoint_url="https://sqs")
        self.delete(asked["QueueUrl"], asked["ReceiptHandle"])
        if fault == "lost":
            raise ReadTimeoutError(endpoint_url="https://sqs")

    def change_message_visibility_batch(self, **asked: Any) -> None:
        """Let messages be seen again."""
        if self.hub.choose("sqs.release", RECEIVE):
            raise EndpointConnectionError(endpoint_url="https://sqs")
        for entry in asked["Entries"]:
            stored = self.queues[asked["QueueUrl"]].get(entry["ReceiptHandle"].partition(".")[0])
            if stored is not None:
                self.hide(asked["QueueUrl"], stored, entry["VisibilityTimeout"] * 1000)

    def get_queue_attributes(self, **asked: Any) -> dict[str, Any]:
        """Return how many messages are hidden."""
        if self.hub.choose("sqs.attributes", RECEIVE):
            raise EndpointConnectionError(endpoint_url="https://sqs")
        held = self.queues.get(asked["QueueUrl"], {}).values()
        hidden = sum(stored.visible_ms > self.hub.ms for stored in held)
        return {"Attributes": {"ApproximateNumberOfMessagesNotVisible": str(hidden)}}


def record(stored: Stored, url: str) -> dict[str, Any]:
    """Return a message of a queue as Lambda's event has it."""
    stamps = {
        name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
        for name, value in stored.attributes.items()
    }
    return {
        "messageId": stored.id,
        "receiptHandle": stored.receipt,
        "body": stored.body,
        "attributes": {
            "SentTimestamp": str(stored.sent_ms),
            "ApproximateReceiveCount": str(stored.receives),
        },
        "messageAttributes": stamps,
        "eventSourceARN": f"arn:aws:sqs:us-east-1:000000000000:{url.rpartition('/')[2]}",
    }
