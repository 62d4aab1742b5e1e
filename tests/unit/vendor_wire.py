"""A vendor that answers one body, and bodies as the vendors of our adapters make them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from tests.unit.vendor_server import SteppingClock
from tidegate.rules.catalogue import Entry
from tidegate.vendors.base import VendorAnswer, VendorCall
from tidegate.vendors.registry import build

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
CHAT = {"messages": [{"role": "user", "content": "Hi"}]}


class Wire:
    """A vendor that answers one body and remembers the request."""

    def __init__(self, body: Any, headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        self.headers = headers or {}
        self.request: httpx.Request | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.request = request
        return httpx.Response(200, json=self.body, headers=self.headers)

    @property
    def sent(self) -> Any:
        assert self.request is not None
        return json.loads(self.request.content)


def ask(
    wire: Wire,
    model: Entry,
    data: Mapping[str, Any],
    params: Mapping[str, Any] | None = None,
    system: str | None = None,
) -> VendorAnswer:
    transport = httpx.MockTransport(wire)
    vendor = build(model, "http://vendor.test/base/", lambda: "sk-1", SteppingClock(), transport)
    return vendor.call(VendorCall(model, data, params or {}, "tg-job_1", system=system))


def openai(text: str | None = "Hello.", finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "model": "gpt-x",
        "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        **more,
    }


def anthropic(*blocks: Any, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "model": "claude-x",
        "content": list(blocks) or [{"type": "text", "text": "Hello."}],
        "stop_reason": stop,
        "usage": {"input_tokens": 5, "output_tokens": 4},
        **more,
    }


def cohere(*parts: Any, finish: str = "COMPLETE") -> dict[str, Any]:
    return {
        "id": "c-1",
        "message": {"content": list(parts) or [{"type": "text", "text": "x = 1"}]},
        "finish_reason": finish,
        "usage": {
            "tokens": {"input_tokens": 7, "output_tokens": 6},
            "billed_units": {"input_tokens": 1, "output_tokens": 1},
        },
    }


def images(*items: Any) -> dict[str, Any]:
    return {"created": 1, "data": list(items), "usage": {"input_tokens": 8, "output_tokens": 9}}
