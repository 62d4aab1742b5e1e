"""The vendor's API key: used when it can be, shown never."""

from __future__ import annotations

import httpx
import pytest

from tests.unit.vendor_calls import GOOD, KEY, PROMPT, answered, call_of
from tests.unit.vendor_server import SteppingClock, entry
from tidegate.errors import (
    VendorAccount,
)
from tidegate.vendors.base import Vendor
from tidegate.vendors.registry import build


def test_nothing_shows_the_key_or_the_prompt() -> None:
    model = entry("chat-mini")
    vendor: Vendor = build(model, "http://vendor.test/v1", lambda: KEY, SteppingClock())
    shown = f"{vendor!r} {call_of(model)!r} {answered(lambda _: httpx.Response(200, json=GOOD))!r}"
    assert KEY not in shown
    assert PROMPT not in shown
    assert "Hello." not in shown


@pytest.mark.parametrize("key", ["", " ", "sk-a\nx: y", "sk-\u00e9"])
def test_a_key_that_cannot_be_sent_is_the_accounts_trouble(key: str) -> None:
    model = entry("chat-mini")
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=GOOD))
    vendor = build(model, "http://vendor.test/v1", lambda: key, SteppingClock(), transport)
    with pytest.raises(VendorAccount):
        vendor.call(call_of(model))


def test_a_new_key_is_used_without_a_new_start() -> None:
    keys = iter(["first", "second\n"])
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json=GOOD)

    model = entry("chat-mini")
    vendor = build(
        model,
        "http://vendor.test/",
        lambda: next(keys),
        SteppingClock(),
        httpx.MockTransport(handler),
    )
    vendor.call(call_of(model))
    vendor.call(call_of(model))
    assert seen == ["Bearer first", "Bearer second"]
