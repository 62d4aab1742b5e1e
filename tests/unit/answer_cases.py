"""Answers that models gave, what each was asked for, and the models of the tables of them.

A case can be judged alone (`judged`), or be sent by a vendor to whoever asks for it by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.unit.vendor_server import CATALOGUE
from tidegate.gate.verdict import Verdict, judge
from tidegate.rules import picture
from tidegate.rules.answer import Expected, Given, expected
from tidegate.rules.catalogue import Catalogue, load, parse
from tidegate.rules.picture import Delivered
from tidegate.vendors.base import Image

WORD, NUMBER = "Quastel", 48151623
"""What only an answer says: no reason may."""

SETS = {
    "accounts": frozenset({"1", "7", "4711"}),
    "towns": frozenset({"Bern", "Zürich, HB", *(f"town {n}" for n in range(1001))}),
}

REPORT: dict[str, Any] = {
    "account_id": 7, "confidence_score": 0.5, "anomaly_detected": False, "risk_level": "LOW",
}  # fmt: skip

_BASE: dict[str, Any] = {
    "vendor": "v",
    "max_concurrency": 2,
    "timeouts": {"connect": 1, "read": 2, "total": 3, "margin": 3},
    "retry": {"attempts": 2, "base": 1, "cap": 1},
    "cache": {"reuse": "always"},
    "price": {"per_call": 1000},
}
_REPORT = load(CATALOGUE, "local").models["risk-report"].model_dump(by_alias=True)["contract"]
_NUMBER, _TEXT = {"type": "number"}, {"type": "string"}
_ANYTHING: dict[str, Any] = {}
_LINE = {"properties": {"net": _NUMBER, "gross": _NUMBER, "account": {"type": "integer"}}}
_INVOICE = {
    "type": "object",
    "properties": {
        "from": _TEXT, "to": _TEXT, "low": _NUMBER, "high": _NUMBER, "share": _NUMBER,
        "total": _NUMBER, "exact": _NUMBER, "parts": {"items": _ANYTHING}, "first": _ANYTHING,
        "again": _ANYTHING, "lines": {"type": "array", "items": _LINE}, "account": _ANYTHING,
        "towns": {"type": "array", "items": _TEXT}, "note": {"type": "string", "maxLength": 20},
        "day": {"type": "string", "format": "date"}, "tags": {"uniqueItems": True, "maxItems": 2},
    },
}  # fmt: skip
_RELATIONS = [
    {"path": "$.from", "is": "at_most", "other": "$.to"},
    {"path": "$.high", "is": "greater", "other": "$.low"},
    {"path": "$.share", "is": "at_least", "other": 0},
    {"path": "$.share", "is": "less", "other": 1},
    {"path": "$.lines[*].net", "is": "at_most", "other": "$.lines[*].gross"},
    {"path": "$.total", "is": "sum_of", "other": "$.lines[*].gross", "tolerance": 0.005},
    {"path": "$.exact", "is": "sum_of", "other": "$.parts[*]"},
    {"path": "$.first", "is": "equal", "other": "$.again"},
]
_REFERENCES = [
    {"path": "$.account", "set": "accounts"},
    {"path": "$.lines[*].account", "set": "accounts"},
    {"path": "$.towns[*]", "set": "towns"},
]
_OPENAI, _CLAUDE = {"adapter": "openai-chat"}, {"adapter": "anthropic-messages"}
_COHERE, _IMAGES = {"adapter": "cohere-chat"}, {"adapter": "openai-images", "task": "image"}
_SHAPE: dict[str, Any] = {
    "n": {"type": "integer", "default": 1, "minimum": 1, "maximum": 4},
    "aspect_ratio": {"type": "string", "choices": ["1:1", "3:2", "2:3"]},
    "size": {"type": "string", "choices": ["64x64", "auto"]},
}
_CHECKED = {"fenced": True, "parses": True, "max_characters": 400}
MODELS: dict[str, dict[str, Any]] = {
    "words": {**_OPENAI, "task": "chat", "answer": {"max_characters": 200}},
    "speech": {**_CLAUDE, "task": "chat"},
    "program": {**_COHERE, "task": "code", "answer": _CHECKED},
    "listing": {**_OPENAI, "task": "code"},
    "report": {**_OPENAI, "task": "extract", "contract": _REPORT},
    "fenced": {**_CLAUDE, "task": "extract", "contract": {**_REPORT, "fenced": True}},
    "invoice": {
        **_COHERE,
        "task": "extract",
        "answer": {"max_characters": 30_000},
        "contract": {"schema": _INVOICE, "relations": _RELATIONS, "references": _REFERENCES},
    },
    "value": {**_OPENAI, "task": "extract", "contract": {"schema": {}}},
    "spoken": {**_CLAUDE, "task": "chat", "contract": {"schema": {"type": "object"}}},
    "picture": {**_IMAGES, "parameters": _SHAPE},
    "pictures": {**_IMAGES, "parameters": _SHAPE, "answer": {"fewer_images": True}},
}


def models(**changed: Any) -> Catalogue:
    """Return the models of the tables."""
    entries = {
        name: {**_BASE, **entry, "vendor_model": name, **changed} for name, entry in MODELS.items()
    }
    sets: dict[str, Any] = {name: {} for name in SETS}
    partners = {"requests_per_minute": 100_000}
    return parse({"partners": partners, "references": sets, "models": entries})


CATALOGUE_OF_CASES = models()


@dataclass(frozen=True)
class Case:
    """One answer."""

    name: str
    model: str
    text: str | None = field(default=None, repr=False)
    code: str = ""
    """Why it fails; empty: it passes."""
    pointer: str = ""
    value: Any = None
    """What passes: the data, or the text where that is not the whole answer."""
    truncated: bool = False
    images: tuple[Image, ...] = field(default=(), repr=False)
    params: dict[str, Any] = field(default_factory=dict)
    language: str = "python"
    response_schema: dict[str, Any] | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """Return what a partner asks to be answered so."""
        task, words = MODELS[self.model]["task"], f"case <{self.name}>"
        given = {
            "chat": {"messages": [{"role": "user", "content": words}]},
            "code": {"instruction": words, "code": "x", "language": self.language},
            "extract": {"text": words},
            "image": {"prompt": words},
        }[task]
        schema = {} if self.response_schema is None else {"response_schema": self.response_schema}
        return {"model": self.model, "input": given, "params": self.params, **schema}

    @property
    def judged(self) -> Verdict:
        """Return the gate's verdict."""
        entry = CATALOGUE_OF_CASES.models[self.model]
        held: Expected = expected(entry.task, self.asked)
        given = Given(self.text, tuple(map(_delivered, self.images)), self.truncated)
        return judge(entry, given, held, lambda name, members: members & SETS[name])

    @property
    def says(self) -> str:
        """Return everything that the vendor said."""
        return f"{self.text} {[(each.content, each.declared) for each in self.images]}"


def report(**changed: Any) -> str:
    """Return a risk report that is right but for what is changed; None leaves a member out."""
    whole: dict[str, Any] = {**REPORT, **changed}
    return json.dumps({name: value for name, value in whole.items() if value is not None})


def bad(model: str, code: str, *rows: tuple[str, str | None], **fields: Any) -> Iterable[Case]:
    """Return cases of one model and one code by name and text, all else alike."""
    return [Case(name, model, text, code, **fields) for name, text in rows]


def good(model: str, *rows: tuple[str, str, Any], **fields: Any) -> Iterable[Case]:
    """Return cases that pass, by name, text and what comes of it."""
    return [Case(name, model, text, value=value, **fields) for name, text, value in rows]


def _delivered(image: Image) -> Delivered:
    seen = picture.read(image.content)
    if seen is None:
        return Delivered(image.declared, None, 0, 0)
    return Delivered(image.declared, seen.kind, seen.width, seen.height)
