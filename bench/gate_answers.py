"""What the bench of the gate judges: invoices of any size, good and bad, and the like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tidegate.rules.contracts import Contract, Reference, Relation

PRODUCTS = 500

SETS = {
    "accounts": frozenset(str(number) for number in range(1000, 2000)),
    "products": frozenset(f"sku-{number:04}" for number in range(PRODUCTS)),
}

_LINE = {
    "type": "object",
    "required": ["sku", "text", "quantity", "net", "gross", "taxed", "shipped"],
    "properties": {
        "sku": {"type": "string", "pattern": "^sku-[0-9]{4}$"},
        "text": {"type": "string", "minLength": 1, "maxLength": 200},
        "quantity": {"type": "integer", "minimum": 1, "maximum": 1000},
        "net": {"type": "number", "minimum": 0},
        "gross": {"type": "number", "minimum": 0},
        "taxed": {"type": "boolean"},
        "shipped": {"type": "string", "format": "date"},
    },
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["account_id", "currency", "issued", "due", "total", "lines"],
    "properties": {
        "account_id": {"type": "integer", "minimum": 1},
        "currency": {"enum": ["EUR", "USD"]},
        "issued": {"type": "string", "format": "date"},
        "due": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "lines": {"type": "array", "items": _LINE},
    },
}

CONTRACT = Contract.model_validate({
    "schema": SCHEMA,
    "relations": (
        Relation.model_validate(
            {"path": "$.total", "is": "sum_of", "other": "$.lines[*].net", "tolerance": 0.01}
        ),
        Relation.model_validate({"path": "$.issued", "is": "at_most", "other": "$.due"}),
        Relation.model_validate(
            {"path": "$.lines[*].net", "is": "at_most", "other": "$.lines[*].gross"}
        ),
    ),
    "references": (
        Reference(path="$.account_id", set="accounts"),
        Reference(path="$.lines[*].sku", set="products"),
    ),
})  # fmt: skip


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Line(_Strict):
    """One line of an invoice, as pydantic checks it."""

    sku: str = Field(pattern="^sku-[0-9]{4}$")
    text: str = Field(min_length=1, max_length=200)
    quantity: int = Field(ge=1, le=1000)
    net: float = Field(ge=0)
    gross: float = Field(ge=0)
    taxed: bool
    shipped: date


class Invoice(_Strict):
    """The same shape as `SCHEMA`, for the peer."""

    account_id: int = Field(ge=1)
    currency: Literal["EUR", "USD"]
    issued: date
    due: date
    total: float
    lines: list[Line]


PEER: TypeAdapter[Invoice] = TypeAdapter(Invoice)


def invoice(characters: int) -> dict[str, Any]:
    """Return an invoice whose JSON has that many characters, or up to a line more."""
    lines: list[dict[str, Any]] = []
    made = {
        "account_id": 1001,
        "currency": "EUR",
        "issued": "2026-01-01",
        "due": "2026-02-01",
        "total": 0.0,
        "lines": lines,
    }
    size = len(json.dumps(made))
    while size < characters:
        lines.append(_line(len(lines)))
        size += len(json.dumps(lines[-1])) + 2
    made["total"] = round(sum(line["net"] for line in lines), 2)
    return made


def _line(number: int) -> dict[str, Any]:
    net = 100.5 + number % 900
    return {
        "sku": f"sku-{number % PRODUCTS:04}",
        "text": f"Wildflower honey, jar of 250 g, harvest {2000 + number % 25}",
        "quantity": number % 9 + 1,
        "net": net,
        "gross": round(net * 1.19, 2),
        "taxed": number % 2 == 0,
        "shipped": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
    }


def bad(good: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong, the answer, and the code it must fail with."""
    text = json.dumps(good)
    yield "words before it", "Certainly! " + text, "invalid_json"
    yield "its last bracket is missing", text[:-1], "invalid_json"
    yield "said twice", f"{text}\n{text}", "two_candidates"
    yield "65 levels deep, from the start", "[" * 65 + text + "]" * 65, "too_deep"
    yield "a member twice, in its last line", _twice(text), "duplicate_member"
    yield "schema: its first line", _with(good, 0, quantity=0), "schema"
    yield "schema: its last line", _with(good, -1, quantity=0), "schema"
    yield "schema: every line", _all(good, quantity=0), "schema"
    yield "relation: its last line", _with(good, -1, gross=0.5), "relation"
    yield "relation: every line", _all(good, gross=0.5), "relation"
    yield "reference: its account", json.dumps({**good, "account_id": 9999}), "reference_unknown"
    yield "reference: its last line", _with(good, -1, sku="sku-9999"), "reference_unknown"


def _with(good: dict[str, Any], line: int, **members: Any) -> str:
    made = deepcopy(good)
    made["lines"][line] |= members
    return json.dumps(made)


def _all(good: dict[str, Any], **members: Any) -> str:
    return json.dumps({**good, "lines": [line | members for line in good["lines"]]})


def _twice(text: str) -> str:
    before, _, after = text.rpartition('"taxed"')
    return f'{before}"taxed": true, "taxed"{after}'


def prose(characters: int) -> str:
    """Return plain text of that many characters."""
    sentence = "The sea is salty, since rivers bring salts and only water leaves. "
    return (sentence * (characters // len(sentence) + 1))[:characters].strip()


def program(characters: int) -> str:
    """Return Python of that many characters, or up to a function more."""
    functions: list[str] = []
    size = 0
    while size < characters:
        functions.append(_FUNCTION.format(number=len(functions)))
        size += len(functions[-1])
    return "".join(functions)


_FUNCTION = '''
def price_{number}(net: float, quantity: int, taxed: bool = True) -> float:
    """Return what is to be paid."""
    if quantity < 1 or net < 0:
        raise ValueError(f"no such order: {{quantity}}")
    total = sum(net * (0.9 if each > 10 else 1) for each in range(quantity))
    return round(total * 1.19, 2) if taxed else total
'''
