"""A dead-letter queue, read from end to end: each message is out of others' sight for a while."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tidegate.doors.queue import Message

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import ChangeMessageVisibilityBatchRequestEntryTypeDef

PAGE = 10
"""Messages SQS hands out at once at most; also receipts it takes at once."""

VISIBILITY = 60
"""Seconds a message is out of sight: long enough for what is done about a page, and short enough
for whoever starts again after a run was killed."""

WAIT = 1
"""Seconds SQS looks for messages: without waiting it asks only some of its servers, and an empty
answer means nothing (docs.aws.amazon.com: sqs-short-and-long-polling)."""


class DeadLetters:
    """Receiving from dead-letter queues, and what becomes of each message."""

    def __init__(self, client: SQSClient, wait: int = WAIT) -> None:
        self._client = client
        self._wait = wait

    def receive(self, url: str, most: int = PAGE, visibility: int = VISIBILITY) -> list[Message]:
        """Return up to `most` messages, out of sight for `visibility` seconds; none is the end."""
        reply = self._client.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=most,
            VisibilityTimeout=visibility,
            WaitTimeSeconds=self._wait,
            MessageSystemAttributeNames=["SentTimestamp"],
        )
        return [
            Message(
                each["MessageId"],
                each["ReceiptHandle"],
                each["Body"],
                int(each.get("Attributes", {}).get("SentTimestamp", "0")) / 1000,
            )
            for each in reply.get("Messages", [])
        ]

    def delete(self, url: str, receipt: str) -> None:
        """Remove a message for good."""
        self._client.delete_message(QueueUrl=url, ReceiptHandle=receipt)

    def release(self, url: str, receipts: Iterable[str]) -> None:
        """Let messages be seen again at once; one that is gone by now is none to worry about."""
        entries: list[ChangeMessageVisibilityBatchRequestEntryTypeDef] = [
            {"Id": str(number), "ReceiptHandle": receipt, "VisibilityTimeout": 0}
            for number, receipt in enumerate(receipts)
        ]
        for first in range(0, len(entries), PAGE):
            self._client.change_message_visibility_batch(
                QueueUrl=url, Entries=entries[first : first + PAGE]
            )

    def hidden(self, url: str) -> int:
        """Return about how many messages are out of sight."""
        reply = self._client.get_queue_attributes(
            QueueUrl=url, AttributeNames=["ApproximateNumberOfMessagesNotVisible"]
        )
        return int(reply["Attributes"].get("ApproximateNumberOfMessagesNotVisible", "0"))


class Reading:
    """One run through a queue, by one reader: each message once, none forgotten."""

    def __init__(self, letters: DeadLetters, url: str, most: int = PAGE) -> None:
        self._letters = letters
        self._url = url
        self._most = most
        self._held: dict[str, str] = {}
        self._seen: set[str] = set()

    def messages(self) -> Iterator[Message]:
        """Yield every message that was not yielded before, until nothing new comes.

        What is held comes back when its time is up; a whole round of that is the end as well.
        """
        stale = 0
        while page := self._letters.receive(self._url, self._most):
            new = [message for message in page if message.id not in self._seen]
            self._seen.update(message.id for message in new)
            self._held.update((message.id, message.receipt) for message in page)
            stale = 0 if new else stale + len(page)
            if stale > len(self._seen):
                return
            yield from new

    def delete(self, message: Message) -> None:
        """Remove a message for good, by the newest receipt there is for it."""
        self._letters.delete(self._url, self._held.get(message.id, message.receipt))
        self._held.pop(message.id, None)

    def release(self) -> None:
        """Let everything be seen again that was received and not deleted."""
        held = list(self._held.values())
        self._held.clear()
        self._letters.release(self._url, held)


def reason_in(body: str) -> str | None:
    """Return the reason a copy of ours gives for being here, or None."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    reason = fields.get("reason") if isinstance(fields, dict) else None
    return reason[:200] if isinstance(reason, str) and reason else None
