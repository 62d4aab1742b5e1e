"""Whether an answer may be seen, and as what."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from tidegate.gate.contract import violations
from tidegate.gate.extract import json_value
from tidegate.rules.catalogue import Entry
from tidegate.rules.strict_json import MAX_INTEGER, NotStrictJson

Code = Literal["truncated", "empty", "bad_text", "invalid_json", "schema", "image_count"]

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and halves of surrogate pairs: no UTF-8, and refused by databases further down."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an answer failed; never quotes it."""

    code: Code
    pointer: str
    """JSON pointer (RFC 6901) into the answer; empty for the whole of it."""
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one answer."""

    passed: bool
    output: dict[str, Any] | None = field(repr=False)
    """For partners, or None: chat and code `{"text"}`, extract `{"data"}`, image `{}`."""
    reasons: tuple[Reason, ...]


def judge(
    entry: Entry,
    *,
    text: str | None,
    image_count: int,
    expected_images: int,
    truncated: bool,
) -> Verdict:
    """Return the verdict on an answer, the same for the same answer at any time.

    Args:
        entry: the model; its task and contract are what the answer is held against.
        text: what the model wrote, if it writes.
        image_count: how many images came.
        expected_images: how many were asked for.
        truncated: whether the vendor says it stopped at a limit.

    Raises:
        ContractUnusable: the entry's contract is wrong; no answer's fault.
    """
    if truncated:
        # First: a cut answer may look whole, as a shorter list does.
        return _failed(Reason("truncated", "", "the answer was cut off at a limit"))
    if entry.task == "image":
        if image_count != expected_images or image_count < 1:
            message = f"there are {image_count} images where {expected_images} were asked for"
            return _failed(Reason("image_count", "", message))
        return _passed({})
    if text is None or not text.strip():
        return _failed(Reason("empty", "", "the answer has no text"))
    if _UNSTORABLE.search(text):
        return _failed(Reason("bad_text", "", "the text holds NUL or half of a surrogate pair"))
    if entry.contract is None:
        return _passed({"text": text})
    try:
        value = json_value(text, fenced=entry.contract.fenced)
    except NotStrictJson as error:
        return _failed(Reason("invalid_json", "", f"the answer is not one JSON value: {error}"))
    value = _canonical(value)
    if _holds_nul(value):
        return _failed(Reason("bad_text", "", "a string holds NUL"))
    broken = violations(entry.contract.schema_, value)
    if broken:
        return _failed(*(Reason("schema", v.pointer, f"{v.message} ({v.keyword})") for v in broken))
    return _passed({"data": value} if entry.task == "extract" else {"text": text})


def _passed(output: dict[str, Any]) -> Verdict:
    return Verdict(passed=True, output=output, reasons=())


def _failed(*reasons: Reason) -> Verdict:
    return Verdict(passed=False, output=None, reasons=reasons)


def _canonical(value: Any) -> Any:
    """Return a JSON value with whole numbers as integers, as canonical JSON (RFC 8785) has them.

    `1` and `1.0` are one number in JSON; partners and caches get one form of it.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_INTEGER:
        return int(value)
    if isinstance(value, dict):
        return {name: _canonical(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return value


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or _holds_nul(member) for name, member in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))
