"""What the deployed stack keeps in AWS, as its operator sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from cli.local.stack import StackInfo, client
from tests.patience import until


class Aws:
    """Jobs, queues and logs; as a context, its clients are closed at the end."""

    def __init__(self, stack: StackInfo) -> None:
        self._stack = stack
        services = ("dynamodb", "sqs", "logs")
        self._clients = [client(stack.aws_endpoint, service) for service in services]
        self.dynamodb, self.sqs, self._logs = self._clients

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        for connected in self._clients:
            connected.close()

    def job_ids(self) -> set[str]:
        """Return the ids of all jobs there are."""
        pages = self.dynamodb.get_paginator("scan").paginate(
            TableName=self._stack.tables["jobs"],
            FilterExpression="sk = :sk",
            ExpressionAttributeValues={":sk": {"S": "status"}},
            ConsistentRead=True,
        )
        return {item["id"]["S"] for page in pages for item in page["Items"]}

    def message(self, queue: str, holding: str, *, patience: float = 30) -> str:
        """Return the body of the message in `queue` that holds a text, and remove it.

        Raises:
            AssertionError: it did not come within `patience` seconds.
        """
        found = until(
            lambda: next((m for m in self._messages(queue) if holding in m["Body"]), None),
            patience=patience,
            awaited=f"message with {holding!r} in {queue}",
        )
        self.sqs.delete_message(QueueUrl=queue, ReceiptHandle=found["ReceiptHandle"])
        body: str = found["Body"]
        return body

    def move(self, body: str, queue: str) -> None:
        """Put a message that was taken from elsewhere into a queue, as an operator does."""
        self.sqs.send_message(QueueUrl=queue, MessageBody=body)

    def delayed(self, queue: str) -> bool:
        """Return whether a message in `queue` waits for its time."""
        return self._holds(queue, "ApproximateNumberOfMessagesDelayed")

    def in_hand(self, queue: str) -> bool:
        """Return whether a reader has a message of `queue`."""
        return self._holds(queue, "ApproximateNumberOfMessagesNotVisible")

    def log_lines(self, function: str | None = None) -> Iterator[str]:
        """Yield every line of a function's log group, or of every log group."""
        groups = {} if function is None else {"logGroupNamePrefix": f"/aws/lambda/{function}"}
        for page in self._logs.get_paginator("describe_log_groups").paginate(**groups):
            for group in page["logGroups"]:
                lines = self._logs.get_paginator("filter_log_events")
                for events in lines.paginate(logGroupName=group["logGroupName"]):
                    yield from (event["message"] for event in events["events"])

    def _holds(self, queue: str, count: Any) -> bool:
        reply = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[count])
        return int(reply["Attributes"][count]) > 0

    def _messages(self, queue: str) -> list[dict[str, Any]]:
        # Left visible: what is not looked for is somebody else's.
        reply = self.sqs.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=0
        )
        messages: list[dict[str, Any]] = reply.get("Messages", [])
        return messages
