"""Inputs and outputs: JSON beside the job, or in S3 where an item would grow too large."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

INLINE_LIMIT = 300_000
"""Bytes; a DynamoDB item may have 400 KB with its names."""


class Payloads:
    """Values too large or too seldom read for the status item."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, value: Any) -> dict[str, Any]:
        """Return the attributes that hold `value`; writes `outputs/<key>.json` if it is large.

        Writing the same value twice under one key is the same object: a lost reply is harmless.
        """
        body = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        if len(body.encode()) <= INLINE_LIMIT:
            return {"body": body}
        s3_key = f"outputs/{key}.json"
        self._client.put_object(
            Bucket=self._bucket, Key=s3_key, Body=body.encode(), ContentType="application/json"
        )
        return {"s3_key": s3_key}

    def get(self, item: dict[str, Any]) -> Any:
        """Return the value that an item's attributes hold."""
        if "s3_key" in item:
            reply = self._client.get_object(Bucket=self._bucket, Key=item["s3_key"])
            return json.loads(reply["Body"].read())
        return json.loads(item["body"])
