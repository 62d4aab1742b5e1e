"""What Tidegate itself has written down: jobs in DynamoDB, messages in SQS."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from cli.demo.facts import Unfinished
from cli.ledger import every_job
from cli.local.stack import StackInfo, client
from tidegate.rules.job import Job

LOOK = 0.25
"""Seconds between looks at something awaited."""


class Books:
    """Reads a running stack's tables and queues; changes neither but by `send`."""

    def __init__(self, info: StackInfo) -> None:
        self._table = info.tables["jobs"]
        self._dynamodb = client(info.aws_endpoint, "dynamodb")
        self._sqs = client(info.aws_endpoint, "sqs")

    def close(self) -> None:
        """Close all connections."""
        self._dynamodb.close()
        self._sqs.close()

    def jobs(self) -> list[Job]:
        """Return every job of the table."""
        return list(every_job(self._dynamodb, self._table))

    def send(self, queue: str, body: str) -> None:
        """Put a message into a queue, past Tidegate."""
        self._sqs.send_message(QueueUrl=queue, MessageBody=body, MessageGroupId="demo")

    def waiting(self, queues: Iterable[str]) -> int:
        """Return how many messages lie in queues: visible, delayed or with a worker."""
        states = ("", "NotVisible", "Delayed")
        names = [f"ApproximateNumberOfMessages{state}" for state in states]
        total = 0
        for queue in queues:
            found = self._sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)
            total += sum(int(found["Attributes"][name]) for name in names)
        return total

    def bodies(self, queue: str) -> list[str]:
        """Return the bodies of up to ten messages of a queue and leave them there."""
        found = self._sqs.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=0, WaitTimeSeconds=0
        )
        return [message["Body"] for message in found.get("Messages", [])]


def await_that(holds: Callable[[], bool], what: str, patience: float = 60) -> None:
    """Return as soon as `holds()`.

    Raises:
        Unfinished: it did not within `patience` seconds; says `what`.
    """
    until = time.monotonic() + patience
    while not holds():
        if time.monotonic() > until:
            raise Unfinished(f"not within {patience:g} s: {what}")
        time.sleep(LOOK)
