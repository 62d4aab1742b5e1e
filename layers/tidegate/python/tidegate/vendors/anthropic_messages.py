"""Anthropic's messages (docs.anthropic.com/en/api/messages)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.vendors import anthropic_errors, prompt
from tidegate.vendors.base import VendorAnswer, VendorApi, VendorCall
from tidegate.vendors.envelope import Finish, Reply, label
from tidegate.vendors.meaning import Signs

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

    signs: ClassVar[Signs] = anthropic_errors.SIGNS

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
            input_tokens=_input(reply),
            output_tokens=reply.count("usage", "output_tokens"),
            request_id=reply.request_id,
            vendor_model=label(reply.at("model")),
        )


def _input(reply: Reply) -> int | None:
    """Return the tokens of the input, those of the vendor's prompt cache included.

    They are billed and counted apart (docs.anthropic.com/en/docs/build-with-claude/prompt-caching).
    We ask for no caching; if there is any all the same, a partner pays for its input as ever.
    """
    fresh = reply.count("usage", "input_tokens")
    if fresh is None:
        return None
    cached = (reply.count("usage", f"cache_{how}_input_tokens") for how in ("creation", "read"))
    return fresh + sum(count or 0 for count in cached)


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
