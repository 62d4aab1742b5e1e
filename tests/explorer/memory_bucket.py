"""As much of S3 as images need: what is put is there, under a name made of its content."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from tests.explorer.hub import Hub

PUT = ("crash", "error", "lost")


class MemoryBucket:
    """A bucket behind the shipped `doors.assets.Assets`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def put_object(self, **_asked: Any) -> None:
        """Take an object."""
        fault = self._hub.choose("s3.put", PUT)
        if fault == "error":
            raise EndpointConnectionError(endpoint_url="https://s3")
        if fault == "lost":
            raise ReadTimeoutError(endpoint_url="https://s3")

    def generate_presigned_url(self, _operation: str, **asked: Any) -> str:
        """Return a URL; asks nobody."""
        return f"https://assets/{asked['Params']['Key']}"
