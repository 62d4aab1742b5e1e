"""Images in our own bucket, handed out as URLs that end; never the vendor's own."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Kinds that a browser may show by itself: pixels only."""

URL_LIFE = 3600
"""Seconds a handed-out URL works; asking for the job again gives a new one."""


class Assets:
    """The assets bucket."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, content: bytes, content_type: str) -> str:
        """Store an image and return its key: its content's name, so storing twice is once.

        Nothing of the job is in it: whoever is served the answer from the cache sees it too.
        """
        kind = content_type.replace("/", "-")
        key = f"assets/{kind}/{sha256(content).hexdigest()}"
        self._client.put_object(
            Bucket=self._bucket,
            Key=key,
            Body=content,
            ContentType=content_type,
            # An SVG may carry script, what is of no known kind may be anything: a browser saves it
            # instead of running it.
            ContentDisposition="inline" if content_type in _SHOWN else "attachment",
        )
        return key

    def url(self, key: str) -> str:
        """Return a URL that reads the asset for `URL_LIFE` seconds. Local: no request is made."""
        return self._client.generate_presigned_url(
            "get_object", Params={"Bucket": self._bucket, "Key": key}, ExpiresIn=URL_LIFE
        )
