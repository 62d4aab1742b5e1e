"""A model's queue. Messages carry ids only and are hints: losing or doubling one is harmless."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate.clock import Clock
from tidegate.rules.ids import is_job_id

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

BODY_VERSION = 1

_STAMP = re.compile("[0-9]{1,15}")
"""Milliseconds since the epoch, as `Queue.send` writes them; anybody may have written others."""

SEND_TIME = 2.0
"""Seconds between our stamp on a message and SQS's, at most, but for a send that hangs."""

MAX_DELAY = 900
"""Seconds; SQS delays a message no longer (SendMessage, DelaySeconds)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery: its id, its receipt, its body as it came, its times (seconds)."""

    id: str
    receipt: str
    body: str
    sent_at: float = 0.0
    """When SQS took it: anew for each move by hand, not for a move to the DLQ."""
    stamped_at: float | None = None
    """When our code sent it, as that says itself; None if nothing says so."""
    queue: str = ""
    """Name of the queue it came from."""

    def redriven_after(self, moment: float) -> bool:
        """Return whether somebody put it back into the queue after `moment`, a job's end.

        Our own code may send one then as well: a worker that does not know of the end yet. What
        it stamps is after the end, or, if the send was under way at that very moment, as young as
        SQS's own time. A message from the DLQ keeps a stamp of before, or has none.
        """
        if self.stamped_at is None:
            return self.sent_at > moment
        hung = self.sent_at - self.stamped_at >= SEND_TIME
        return self.stamped_at <= moment < self.sent_at and hung


class NotOurs(ValueError):
    """A body that Tidegate did not write."""


class Queue:
    """Sending to queues and handing messages back."""

    def __init__(self, client: SQSClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    def send(self, url: str, job_id: str, partner: str, delay: float = 0) -> None:
        """Send a job's id. The group is the partner: SQS fair queues keep one from starving others.

        Args:
            url: the queue.
            job_id: what to work on.
            partner: whose job it is.
            delay: seconds before anybody sees it, at most `MAX_DELAY`.
        """
        self._client.send_message(
            QueueUrl=url,
            MessageBody=body_of(job_id),
            MessageGroupId=partner,
            DelaySeconds=min(math.ceil(delay), MAX_DELAY),
            MessageAttributes={
                "sent_at": {
                    "DataType": "Number",
                    "StringValue": str(round(self._clock.now() * 1000)),
                }
            },
        )

    def send_copy(self, url: str, job_id: str, partner: str, code: str) -> None:
        """Send a job's id and why it ended to a dead-letter or quarantine queue."""
        body = json.dumps({"v": BODY_VERSION, "job_id": job_id, "reason": code})
        self._client.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=partner)

    def hand_back(self, url: str, receipt: str, delay: float) -> None:
        """Let a message come again after `delay` seconds; 0 is at once."""
        self._client.change_message_visibility(
            QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=math.ceil(delay)
        )


def message_of(record: Mapping[str, Any]) -> Message:
    """Return the message in a record of Lambda's SQS event."""
    attributes = record.get("attributes") or {}
    stamp = ((record.get("messageAttributes") or {}).get("sent_at") or {}).get("stringValue", "")
    return Message(
        record["messageId"],
        record["receiptHandle"],
        record["body"],
        int(attributes.get("SentTimestamp", 0)) / 1000,
        int(stamp) / 1000 if _STAMP.fullmatch(stamp) else None,
        str(record.get("eventSourceARN", "")).rpartition(":")[2],
    )


def body_of(job_id: str) -> str:
    """Return the body of a job's message."""
    return json.dumps({"v": BODY_VERSION, "job_id": job_id})


def job_id_in(body: str) -> str:
    """Return the job id in a body.

    Raises:
        NotOurs: it is not JSON, or not a message of ours.
    """
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotOurs("the body is not JSON") from error
    if not isinstance(fields, dict) or fields.get("v") != BODY_VERSION:
        raise NotOurs("the body is not a message of version 1")
    job_id = fields.get("job_id")
    if not isinstance(job_id, str) or not is_job_id(job_id):
        raise NotOurs("the body names no job")
    return job_id
