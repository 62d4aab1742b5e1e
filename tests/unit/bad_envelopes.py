"""What vendors answer with 200: envelopes around the cases of the tables, and broken ones."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.pictures import png
from tests.unit.answer_cases import MODELS, WORD, Case, report
from tests.unit.vendor_wire import anthropic, cohere, images, openai
from tidegate.vendors.base import Image

Kind = Callable[[str, bool], dict[str, Any]]


@dataclass(frozen=True)
class Broken:
    """A body that holds no answer."""

    name: str
    model: str
    body: bytes = field(repr=False)
    error: str = "vendor_failed"


def sent(case: Case) -> bytes:
    """Return what a vendor sends who gives the answer of a case."""
    if MODELS[case.model]["task"] == "image":
        return json.dumps(images(*map(_drawn, case.images))).encode()
    kind = _KINDS[MODELS[case.model]["adapter"]]
    return json.dumps(kind(case.text or "", case.truncated)).encode()


def _openai(text: str, truncated: bool) -> dict[str, Any]:
    return openai(text, "length" if truncated else "stop")


def _anthropic(text: str, truncated: bool) -> dict[str, Any]:
    return anthropic(*_parts(text), stop="max_tokens" if truncated else "end_turn")


def _cohere(text: str, truncated: bool) -> dict[str, Any]:
    return cohere(*_parts(text), finish="MAX_TOKENS" if truncated else "COMPLETE")


_KINDS: dict[str, Kind] = {
    "openai-chat": _openai,
    "anthropic-messages": _anthropic,
    "cohere-chat": _cohere,
}


def _parts(text: str) -> Iterable[dict[str, str]]:
    """Return typed parts, the second of which begins with half of a pair if there is one."""
    halves = text.replace("\U0001f600", "\ud83d\ude00", 1)
    before, half, after = halves.partition("\ude00")
    return [{"type": "text", "text": before}, {"type": "text", "text": half + after}]


def _drawn(image: Image) -> dict[str, str]:
    encoded = base64.b64encode(image.content).decode()
    if image.declared is None:
        return {"b64_json": encoded}
    return {"url": f"data:{image.declared};base64,{encoded}"}


_TEXT = report()
_WHOLE = json.dumps(openai(WORD)).encode()
_ESCAPED = json.dumps(WORD).encode()


def _with(old: bytes, new: bytes) -> bytes:
    assert old in _WHOLE
    return _WHOLE.replace(old, new)


def _openai_with(**changed: Any) -> bytes:
    return json.dumps({**openai(_TEXT), **changed}).encode()


_CHOICE: dict[str, Any] = openai(WORD)["choices"][0]
_ENVELOPES = {
    "nothing": b"",
    "blanks": b" \r\n",
    "one byte": b"{",
    "half": _WHOLE[: len(_WHOLE) // 2],
    "all but the last byte": _WHOLE[:-1],
    "a page": f"<html><body>{WORD}</body></html>".encode(),
    "words": WORD.encode(),
    "a byte order mark before it": b"\xef\xbb\xbf" + _WHOLE,
    "in utf-16": _WHOLE.decode().encode("utf-16"),
    "in utf-32": _WHOLE.decode().encode("utf-32-le"),
    "in latin-1": _with(_ESCAPED, f'"{WORD} \u00e9"'.encode("latin-1")),
    "an overlong slash": _with(_ESCAPED, b'"Quastel \xc0\xaf"'),
    "an overlong nul": _with(_ESCAPED, b'"Quastel \xc0\x80"'),
    "an overlong brace": b"\xe0\x81\xbb" + _WHOLE[1:],
    "half a pair in utf-8": _with(_ESCAPED, b'"Quastel \xed\xa0\xbd"'),
    "a pair in two, as in cesu-8": _with(_ESCAPED, b'"Quastel \xed\xa0\xbd\xed\xb8\x80"'),
    "beyond unicode": _with(_ESCAPED, b'"Quastel \xf4\x90\x80\x80"'),
    "a byte that follows nothing": _with(_ESCAPED, b'"Quastel \x80"'),
    "a character cut off": _with(_ESCAPED, b'"Quastel \xf0\x9f\x98"'),
    "a raw nul": _with(_ESCAPED, b'"Quastel \x00"'),
    "a raw line break": _with(_ESCAPED, b'"Quastel \n"'),
    "two of them": _WHOLE + _WHOLE,
    "and words": _WHOLE + WORD.encode(),
    "events": b"data: " + _WHOLE + b"\n\ndata: [DONE]\n\n",
    "a member twice": b'{"choices": [], ' + _WHOLE[1:],
    "a text twice": _with(b'{"content": ' + _ESCAPED, b'{"content": "x", "content": ' + _ESCAPED),
    "a finish twice": _with(b'"finish_reason"', b'"finish_reason": "length", "finish_reason"'),
    "a number of 5000 digits": b'{"created": ' + b"9" * 5000 + b", " + _WHOLE[1:],
    "deep arrays": b'{"x": ' + b"[" * 100_000,
    "deep objects": b'{"x":' * 100_000,
    "an array": b"[" + _WHOLE + b"]",
    "a string": _ESCAPED,
    "null": b"null",
    "no member": b"{}",
    "an error": json.dumps({"error": {"message": WORD, "type": "server_error"}}).encode(),
    "an error beside it": _openai_with(error={"message": WORD}),
    "an error in words": _openai_with(error=WORD),
    "no choices": _openai_with(choices=[]),
    "choices of another type": _openai_with(choices={"0": _CHOICE}),
    "no message": _openai_with(choices=[{"finish_reason": "stop"}]),
    "a message in words": _openai_with(choices=[{**_CHOICE, "message": WORD}]),
    "no text": _openai_with(choices=[{**_CHOICE, "message": {"content": None}}]),
    "text as an object": _openai_with(choices=[{**_CHOICE, "message": {"content": {"a": WORD}}}]),
    "a call of a tool": _openai_with(choices=[{**_CHOICE, "finish_reason": "tool_calls"}]),
    "no end": _openai_with(choices=[{**_CHOICE, "finish_reason": None}]),
    "an unknown end": _openai_with(choices=[{**_CHOICE, "finish_reason": WORD}]),
    "an end of another type": _openai_with(choices=[{**_CHOICE, "finish_reason": ["stop"]}]),
}
_REFUSED = {
    "withheld": _openai_with(choices=[{**_CHOICE, "finish_reason": "content_filter"}]),
    "refused": _openai_with(choices=[{**_CHOICE, "message": {"refusal": WORD, "content": None}}]),
}
_DRAWN = base64.b64encode(png(WORD)).decode()
_IMAGES: dict[str, Any] = {
    "no base64": images({"b64_json": f"{WORD}!"}),
    "base64 cut off": images({"b64_json": _DRAWN[:-1]}),
    "base64 in url letters": images({"b64_json": "-_" + _DRAWN[2:]}),
    "an empty image": images({"b64_json": ""}),
    "an image elsewhere": images({"url": f"https://{WORD}.example/a.png"}),
    "an image on our machine": images({"url": f"file:///{WORD}"}),
    "an image of nothing": images({"url": "data:image/png;base64,"}),
    "half a pair in its url": images({"url": f"data:,{WORD}\ud83d"}),
    "an image that is a number": images({"b64_json": 1}),
    "null for an image": images(None),
    "no list of images": {"created": 1, "data": {"0": {"b64_json": _DRAWN}}},
    "no data": {"created": 1},
}

BROKEN = [
    *(Broken(f"words: {name}", "report", body) for name, body in _ENVELOPES.items()),
    *(Broken(f"words: {n}", "report", body, "vendor_refused") for n, body in _REFUSED.items()),
    *(Broken(f"image: {n}", "picture", json.dumps(b).encode()) for n, b in _IMAGES.items()),
    Broken("speech: refused", "speech", json.dumps(anthropic(stop="refusal")).encode(),
           "vendor_refused"),
    Broken("speech: a pause", "speech", json.dumps(anthropic(stop="pause_turn")).encode()),
    Broken("speech: words", "speech", json.dumps({**anthropic(), "content": WORD}).encode()),
    Broken("program: toxic", "program", json.dumps(cohere(finish="ERROR_TOXIC")).encode(),
           "vendor_refused"),
    Broken("program: no end", "program", json.dumps(cohere(finish="")).encode()),
    Broken("program: no message", "program", json.dumps({**cohere(), "message": None}).encode()),
]  # fmt: skip
"""Answers that are none: tried again where that may help, and never judged."""
