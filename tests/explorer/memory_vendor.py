"""A vendor in memory: answers with a function of what it is asked, or does what vendors do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.explorer.answers import answer_to, pictures, report
from tests.explorer.hub import Hub
from tests.explorer.models import MEMBER, STRANGER
from tidegate.errors import (
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
)
from tidegate.vendors.base import VendorAnswer, VendorCall

CALL = ("crash", "429", "500", "timeout", "invalid", "account", "stall")

STRANGE = frozenset({"unknown", "long"})
"""Of a report, by script: it names an account that nobody knows."""

ANSWERED = frozenset({"ok", "invalid", "fewer", *STRANGE})
"""Ends of a call that are paid for, and not asked for again; `fewer` is half of what was asked."""

BAD = frozenset({"invalid", *STRANGE})
"""Those of them that fail the gate."""

TAKES_MS = 1000
INPUT_TOKENS = 3
OUTPUT_TOKENS = 5


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
        written, images = text, pictures(text)
        if call.entry.task == "extract":
            written = report(text, STRANGER if fault in STRANGE else MEMBER, fault == "long")
        if fault == "invalid":
            written, images = " ", []
        if fault == "fewer":
            images = images[:1]
        drawn = call.entry.task == "image"
        return VendorAnswer(
            text=None if drawn else written,
            images=tuple(images) if drawn else (),
            finish="complete",
            # Of images it counts no tokens: they are estimated, and the job says so.
            input_tokens=None if drawn else INPUT_TOKENS,
            output_tokens=None if drawn else OUTPUT_TOKENS,
            request_id="req",
            vendor_model="v",
        )
