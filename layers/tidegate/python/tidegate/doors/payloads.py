"""Inputs and outputs: JSON beside the job, or in S3 where an item would grow too large."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tidegate.doors.packed import WORTH, packed, unpacked

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_HALF = re.compile("[\ud800-\udfff]")

INLINE_LIMIT = 300_000
"""Bytes; a DynamoDB item may have 400 KB with its names."""


class Payloads:
    """Values too large or too seldom read for the status item."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, value: Any, folder: str = "outputs") -> dict[str, Any]:
        """Return the attributes that hold `value`: packed if that is worth it.

        Writes `<folder>/<key>.json` if it is large even so.

        Writing the same value twice under one key is the same object: a lost reply is harmless.
        """
        # Half of a surrogate pair has no UTF-8, and a bad answer may hold one: it stays escaped.
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        body = _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()
        if len(body) < WORTH:
            return {"body": body.decode()}
        small = packed(body)
        if len(small) <= INLINE_LIMIT:
            return {"packed": small}
        s3_key = f"{folder}/{key}.json"
        self._client.put_object(
            Bucket=self._bucket,
            Key=s3_key,
            Body=small,
            ContentType="application/json",
            ContentEncoding="gzip",
        )
        return {"s3_key": s3_key}

    def remove(self, s3_key: str) -> None:
        """Remove what `put` wrote to S3; twice is once."""
        self._client.delete_object(Bucket=self._bucket, Key=s3_key)

    def get(self, item: dict[str, Any]) -> Any:
        """Return the value that an item's attributes hold."""
        if "body" in item:
            return json.loads(item["body"])
        if "packed" in item:
            return json.loads(unpacked(bytes(item["packed"])))
        reply = self._client.get_object(Bucket=self._bucket, Key=item["s3_key"])
        body = reply["Body"].read()
        # Objects of before are plain JSON, and say so by not saying otherwise.
        return json.loads(unpacked(body) if reply.get("ContentEncoding") == "gzip" else body)
