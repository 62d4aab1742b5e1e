"""Calls to a vendor over a mock transport or a real socket, for the tests of both."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import httpx

from tests.unit.vendor_server import SteppingClock, entry, timeouts
from tests.unit.vendor_wire import CHAT
from tidegate.clock import SystemClock
from tidegate.rules.catalogue import Entry
from tidegate.vendors.base import Vendor, VendorAnswer, VendorCall
from tidegate.vendors.registry import build

KEY = "sk-very-secret"
PROMPT = "the partner's private words"
GOOD = {
    "id": "chatcmpl-1",
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}


def call_of(model: Entry) -> VendorCall:
    message = {"role": "user", "content": PROMPT}
    return VendorCall(model, {"messages": [message]}, {"max_tokens": 9}, "job_1:1", system=None)


def answered(
    handler: Callable[[httpx.Request], httpx.Response],
    *,
    clock: SteppingClock | None = None,
    **changes: object,
) -> VendorAnswer:
    model = entry("chat-mini", **changes)
    transport = httpx.MockTransport(handler)
    vendor = build(model, "http://vendor.test/v1", lambda: KEY, clock or SteppingClock(), transport)
    return vendor.call(call_of(model))


def over_socket(url: str, clock: SteppingClock | None = None, **seconds: float) -> VendorAnswer:
    model = entry("chat-mini", timeouts=timeouts(**seconds))
    vendor = build(model, url, lambda: KEY, clock or SystemClock())
    return vendor.call(call_of(model))


@cache
def _adapter(name: str, url: str) -> tuple[Entry, Vendor]:
    model = entry(name) if name == "image-studio" else entry(name, task="chat")
    return model, build(model, url, lambda: KEY, SystemClock())


def ask(name: str, url: str, schema: Any = None) -> VendorAnswer:
    """Return what a shipped model's adapter makes of a vendor at `url`, asked to chat or draw."""
    model, vendor = _adapter(name, url)
    asked: dict[str, Any] = {"prompt": "a cat"} if model.task == "image" else CHAT
    return vendor.call(VendorCall(model, asked, {}, "key", system=None, response_schema=schema))
