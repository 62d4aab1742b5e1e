"""What Lambda's event source mapping makes of a message of SQS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def record(message: Mapping[str, Any], queue_arn: str) -> dict[str, Any]:
    """Return the record a function gets of a received message
    (docs.aws.amazon.com/lambda/latest/dg/with-sqs.html)."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {
            name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "eventSourceARN": queue_arn,
    }
