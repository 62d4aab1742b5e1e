"""As much of S3 as images and answers set aside need: what is put is there, under its name."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from tests.explorer.hub import Hub
from tidegate.doors.payloads import Payloads

PUT = ("crash", "error", "lost")
GET = ("error",)


class MemoryBucket:
    """A bucket behind the shipped `doors.assets.Assets` and `doors.payloads.Payloads`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.objects: dict[str, dict[str, Any]] = {}

    def put_object(self, **asked: Any) -> None:
        """Take an object."""
        fault = self._asked("s3.put", PUT)
        self.objects[asked["Key"]] = asked
        self._answer(fault)

    def get_object(self, **asked: Any) -> dict[str, Any]:
        """Return an object."""
        self._asked("s3.get", GET)
        held = self.objects[asked["Key"]]
        return {**held, "Body": BytesIO(held["Body"])}

    def delete_object(self, **asked: Any) -> None:
        """Remove an object; one that is gone is gone."""
        fault = self._asked("s3.delete", PUT)
        self.objects.pop(asked["Key"], None)
        self._answer(fault)

    def generate_presigned_url(self, _operation: str, **asked: Any) -> str:
        """Return a URL; asks nobody."""
        return f"https://assets/{asked['Params']['Key']}"

    def _asked(self, door: str, faults: tuple[str, ...]) -> str:
        fault = self._hub.choose(door, faults)
        if fault == "error":
            raise EndpointConnectionError(endpoint_url="https://s3")
        return fault

    def _answer(self, fault: str) -> None:
        if fault == "lost":
            raise ReadTimeoutError(endpoint_url="https://s3")


class SmallItems(Payloads):
    """As shipped, but that an answer set aside which is worth packing has no room in its item."""

    def put(self, key: str, value: Any, folder: str = "outputs") -> dict[str, Any]:
        held = super().put(key, value, folder)
        if folder != "quarantine" or "packed" not in held:
            return held
        s3_key = f"{folder}/{key}.json"
        self._client.put_object(
            Bucket=self._bucket, Key=s3_key, Body=held["packed"], ContentEncoding="gzip"
        )
        return {"s3_key": s3_key}
