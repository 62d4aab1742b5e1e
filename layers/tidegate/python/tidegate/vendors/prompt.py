"""The words a task is put in, the same for every vendor that takes messages."""

from __future__ import annotations

import re

from tidegate.vendors.base import VendorCall


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


def _code(call: VendorCall) -> str:
    code, language = call.input["code"], call.input.get("language") or ""
    # One backtick more than the code itself has in a row: it cannot close its own fence.
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    heading = f"Language: {language}\n\n" if language else ""
    return f"{call.input['instruction']}\n\n{heading}{fence}{language}\n{code}\n{fence}"
