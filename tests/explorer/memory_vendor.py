"""A vendor in memory: answers with a function of what it is asked, or does what vendors do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tests.explorer.hub import Hub
from tidegate.errors import (
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
)
from tidegate.vendors.base import Image, VendorAnswer, VendorCall

CALL = ("crash", "429", "500", "timeout", "invalid", "account", "stall")

TAKES_MS = 1000
INPUT_TOKENS = 3
OUTPUT_TOKENS = 5


def answer_to(asked: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Return the one right answer to a request: code is repeated, with its names."""
    if "code" in asked:
        return str(asked["code"])
    return "answer to " + json.dumps([asked, params], sort_keys=True)


def holds(output: Mapping[str, Any], right: set[str]) -> bool:
    """Return whether an output is one of the right answers; an image's name tells its content."""
    if "images" not in output:
        return output.get("text") in right
    names = {sha256(text.encode()).hexdigest() for text in right}
    return [image["key"].rpartition("/")[2] in names for image in output["images"]] == [True]


@dataclass
class MemoryVendor:
    """One vendor account; what it is asked is kept."""

    hub: Hub
    script: list[str] = field(default_factory=list)
    """What the first calls come to, whatever the plan says; then it is healthy."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Content and idempotency key of each call that reached it."""
    told: list[Callable[[str], None]] = field(default_factory=list)
    """Told of each call's idempotency key."""
    came_to: list[Callable[[str, str], None]] = field(default_factory=list)
    """Told how each call ended: ok, crash, or what is wrong with it."""

    def reset(self) -> None:
        """Have been asked nothing; the next calls come to nothing special."""
        for each in (self.calls, self.script, self.told, self.came_to):
            each.clear()

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return the answer to one attempt."""
        fault = self.hub.choose("vendor.call", CALL)
        text = answer_to(call.input, call.params)
        self.calls.append((text, call.idempotency_key))
        for told in self.told:
            told(call.idempotency_key)
        if not fault and self.script:
            fault = self.script.pop(0)
        ended = "crash"  # of a process that does not come back
        try:
            answer = self._answer(call, text, fault)
            ended = fault or "ok"
        except VendorError:
            ended = fault
            raise
        finally:
            for hear in self.came_to:
                hear(call.idempotency_key, ended)
        return answer

    def _answer(self, call: VendorCall, text: str, fault: str) -> VendorAnswer:
        if fault == "crash":
            self.hub.die()
        if fault == "429":
            raise VendorThrottled("the vendor answered 429", vendor_status=429, retry_after=4.0)
        if fault == "500":
            raise VendorFailed("the vendor answered 500", vendor_status=500)
        if fault == "account":
            raise VendorAccount("the vendor answered 402", vendor_status=402)
        if fault == "refused":
            raise VendorRefused("the vendor answered 400", vendor_status=400)
        self.hub.sleep(min(TAKES_MS, max(0, int(call.seconds * 1000))))
        if fault == "timeout":
            raise VendorTimeout("the vendor did not answer in time")
        drawn = call.entry.task == "image"
        image = Image(content=text.encode(), content_type="image/png")
        return VendorAnswer(
            text=None if drawn else " " if fault == "invalid" else text,
            images=(image,) if drawn and fault != "invalid" else (),
            finish="complete",
            input_tokens=INPUT_TOKENS,
            output_tokens=OUTPUT_TOKENS,
            request_id="req",
            vendor_model="v",
        )
