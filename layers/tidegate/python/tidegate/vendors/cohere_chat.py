"""Cohere's chat, version 2 (docs.cohere.com/v2/reference/chat)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.vendors import cohere_errors, prompt
from tidegate.vendors.base import VendorAnswer, VendorApi, VendorCall
from tidegate.vendors.envelope import Finish, Reply, label
from tidegate.vendors.meaning import Signs

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

    signs: ClassVar[Signs] = cohere_errors.SIGNS

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
            input_tokens=_billed(reply, "input_tokens"),
            output_tokens=_billed(reply, "output_tokens"),
            request_id=reply.request_id,
            # The answer names no model; it is the one that was asked for.
            vendor_model=label(reply.at("model")),
        )


def _billed(reply: Reply, side: str) -> int | None:
    """Return what is billed (docs.cohere.com/docs/how-does-cohere-pricing-work), if it is said;
    else what was processed, which counts the vendor's own instructions too."""
    billed = reply.count("usage", "billed_units", side)
    return billed or reply.count("usage", "tokens", side)


def _body(call: VendorCall) -> dict[str, Any]:
    given = {theirs: call.params.get(ours) for ours, theirs in _PARAMETERS.items()}
    return {
        "model": call.entry.vendor_model,
        "messages": prompt.with_schema(call),
        **{name: value for name, value in given.items() if value is not None},
    }
