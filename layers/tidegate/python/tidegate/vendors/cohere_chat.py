"""Cohere's chat, version 2 (docs.cohere.com/v2/reference/chat)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.vendors import prompt
from tidegate.vendors.base import VendorAnswer, VendorApi, VendorCall
from tidegate.vendors.envelope import Finish, label

_PARAMETERS = {
    "temperature": "temperature",
    "top_p": "p",
    "max_tokens": "max_tokens",
    "seed": "seed",
}
"""Our names and Cohere's."""

_REFUSED = frozenset({"ERROR_TOXIC", "CONTENT_FILTER"})
_FINISH: dict[str, Finish] = {
    "COMPLETE": "complete",
    "STOP_SEQUENCE": "complete",
    "MAX_TOKENS": "truncated",
}


@dataclass(frozen=True, slots=True)
class CohereChat(VendorApi):
    """Tasks chat, code and extract through the chat API."""

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return the text parts, joined.

        Raises:
            VendorError: one of its subclasses.
        """
        reply = self.post(call, "/v2/chat", self.bearer(), _body(call))
        reason = reply.at("finish_reason")
        if isinstance(reason, str) and reason in _REFUSED:
            raise reply.refused()
        finish = reply.finish(_FINISH, "finish_reason")
        text = reply.written(reply.texts("message", "content"))
        return VendorAnswer(
            text=text,
            images=(),
            finish=finish,
            input_tokens=reply.count("usage", "tokens", "input_tokens"),
            output_tokens=reply.count("usage", "tokens", "output_tokens"),
            request_id=reply.request_id,
            # The answer names no model; it is the one that was asked for.
            vendor_model=label(reply.at("model")),
        )


def _body(call: VendorCall) -> dict[str, Any]:
    given = {theirs: call.params.get(ours) for ours, theirs in _PARAMETERS.items()}
    return {
        "model": call.entry.vendor_model,
        "messages": prompt.with_schema(call),
        **{name: value for name, value in given.items() if value is not None},
    }
