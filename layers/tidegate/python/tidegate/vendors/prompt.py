"""The words a task is put in, the same for every vendor that takes messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tidegate.rules.closed_schema import closed
from tidegate.vendors.base import VendorCall

IN_JSON = (
    "Answer with one JSON value that is valid under the following JSON Schema (draft 2020-12), and "
    "with nothing else: no words around it, no code fence.\n"
)
"""Told where a vendor's API cannot be given the schema itself."""


def turns(call: VendorCall) -> list[dict[str, str]]:
    """Return the conversation to send, without what stands before it."""
    data = call.input
    if call.entry.task == "chat":
        return [{"role": m["role"], "content": m["content"]} for m in data["messages"]]
    text = data["text"] if call.entry.task == "extract" else _code(call)
    return [{"role": "user", "content": text}]


def with_system(call: VendorCall) -> list[dict[str, str]]:
    """Return the conversation behind what the model is told first, if it is told anything."""
    told = [{"role": "system", "content": call.system}] if call.system else []
    return [*told, *turns(call)]


def schema(call: VendorCall) -> Mapping[str, Any] | None:
    """Return the JSON Schema a model is told, its objects closed; None: the answer is no JSON.

    Of two, the partner's own, which will be the narrower one: the gate holds both.
    """
    contract = call.entry.contract
    told = call.response_schema or (None if contract is None else contract.schema_)
    return None if told is None else closed(told)


def with_schema(call: VendorCall) -> list[dict[str, str]]:
    """Return the conversation with the schema in words, if there is one."""
    told = schema(call)
    messages = with_system(call)
    if told is None:
        return messages
    words = IN_JSON + json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return [{"role": "system", "content": words}, *messages]


def _code(call: VendorCall) -> str:
    code, language = call.input["code"], call.input.get("language") or ""
    # One backtick more than the code itself has in a row: it cannot close its own fence.
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    heading = f"Language: {language}\n\n" if language else ""
    return f"{call.input['instruction']}\n\n{heading}{fence}{language}\n{code}\n{fence}"
