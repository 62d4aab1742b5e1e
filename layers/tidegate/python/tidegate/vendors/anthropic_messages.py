"""Anthropic's messages (docs.anthropic.com/en/api/messages)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.vendors import prompt
from tidegate.vendors.base import VendorAnswer, VendorApi, VendorCall
from tidegate.vendors.envelope import Finish, label

VERSION = "2023-06-01"
"""Of the API; sent with every call (docs.anthropic.com/en/api/versioning)."""

DEFAULT_MAX_TOKENS = 1024
"""The API requires a limit, an entry need not have one."""

_PARAMETERS = ("temperature", "top_p")
_FINISH: dict[str, Finish] = {
    "end_turn": "complete",
    "stop_sequence": "complete",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
}


@dataclass(frozen=True, slots=True)
class AnthropicMessages(VendorApi):
    """Tasks chat, code and extract through the messages API."""

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return the text blocks, joined.

        Raises:
            VendorError: one of its subclasses.
        """
        headers = {"x-api-key": self.key(), "anthropic-version": VERSION}
        reply = self.post(call, "/v1/messages", headers, _body(call))
        reason = reply.at("stop_reason")
        if reason == "refusal":
            raise reply.refused()
        finish = reply.finish(_FINISH, "stop_reason")
        text = reply.written(reply.texts("content"))
        return VendorAnswer(
            text=text,
            images=(),
            finish=finish,
            input_tokens=reply.count("usage", "input_tokens"),
            output_tokens=reply.count("usage", "output_tokens"),
            request_id=reply.request_id,
            vendor_model=label(reply.at("model")),
        )


def _body(call: VendorCall) -> dict[str, Any]:
    # The API knows no system role: such turns join the instructions that stand before them.
    messages = prompt.with_schema(call)
    system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
    return {
        "model": call.entry.vendor_model,
        "max_tokens": call.params.get("max_tokens", DEFAULT_MAX_TOKENS),
        "messages": [m for m in messages if m["role"] != "system"],
        **({"system": system} if system else {}),
        **{name: call.params[name] for name in _PARAMETERS if name in call.params},
    }
