"""OpenAI's chat completions (platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.vendors import openai_errors, prompt
from tidegate.vendors.base import VendorAnswer, VendorApi, VendorCall
from tidegate.vendors.envelope import Finish, label
from tidegate.vendors.meaning import Signs

_PARAMETERS = ("temperature", "top_p", "max_tokens", "seed")
_FINISH: dict[str, Finish] = {"stop": "complete", "length": "truncated"}


@dataclass(frozen=True, slots=True)
class OpenAIChat(VendorApi):
    """Tasks chat, code and extract through chat completions."""

    signs: ClassVar[Signs] = openai_errors.SIGNS

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return the first choice's text.

        Raises:
            VendorError: one of its subclasses.
        """
        # A schema that the vendor does not take is this request's only if its partner sent one.
        more = () if call.response_schema is None else openai_errors.SCHEMA_SIGNS
        reply = self.post(call, "/chat/completions", self.bearer(), _body(call), more)
        message = reply.at("choices", 0, "message")
        reason = reply.at("choices", 0, "finish_reason")
        if not isinstance(message, dict):
            raise reply.failed("the vendor's answer has no choice")
        if message.get("refusal") or reason == "content_filter":
            raise reply.refused()
        finish = reply.finish(_FINISH, "choices", 0, "finish_reason")
        text = reply.written(message.get("content"))
        return VendorAnswer(
            text=text,
            images=(),
            finish=finish,
            input_tokens=reply.count("usage", "prompt_tokens"),
            output_tokens=reply.count("usage", "completion_tokens"),
            request_id=reply.request_id,
            vendor_model=label(reply.at("model")),
        )


def _body(call: VendorCall) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": call.entry.vendor_model,
        "messages": prompt.with_system(call),
        **{name: call.params[name] for name in _PARAMETERS if name in call.params},
    }
    schema = prompt.schema(call)
    if schema is not None:
        # `strict` takes a part of JSON Schema only, and refuses the rest: what an operator writes
        # is made for it, what a partner sends may not be. The gate holds all of both.
        strict = call.response_schema is None
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": strict},
        }
    return body
