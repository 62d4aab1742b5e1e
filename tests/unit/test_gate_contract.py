from __future__ import annotations

from typing import Any

import pytest

from tests.unit.vendor_server import entry
from tidegate.errors import ContractUnusable
from tidegate.gate.contract import Violation, check_contracts, violations
from tidegate.gate.reason import MAX_REASONS

GOOD = {
    "account_id": 7,
    "confidence_score": 0.5,
    "anomaly_detected": False,
    "risk_level": "LOW",
}


def risk() -> dict[str, Any]:
    contract = entry("risk-report").contract
    assert contract is not None
    return contract.schema_


def test_a_good_report() -> None:
    assert violations(risk(), GOOD) == ()


@pytest.mark.parametrize(
    ("change", "pointer", "keyword"),
    [
        ({"account_id": "7"}, "/account_id", "type"),
        ({"account_id": True}, "/account_id", "type"),
        ({"account_id": 7.5}, "/account_id", "type"),
        ({"account_id": None}, "/account_id", "type"),
        ({"account_id": 0}, "/account_id", "minimum"),
        ({"confidence_score": 1.01}, "/confidence_score", "maximum"),
        ({"confidence_score": True}, "/confidence_score", "type"),
        ({"anomaly_detected": 0}, "/anomaly_detected", "type"),
        ({"anomaly_detected": "yes"}, "/anomaly_detected", "type"),
        ({"risk_level": "low"}, "/risk_level", "enum"),
        ({"risk_level": "LOW "}, "/risk_level", "enum"),
        ({"extra": 1}, "", "additionalProperties"),
    ],
)
def test_each_wrong_member_is_named(change: dict[str, Any], pointer: str, keyword: str) -> None:
    (found,) = violations(risk(), {**GOOD, **change})
    assert (found.pointer, found.keyword) == (pointer, keyword)


@pytest.mark.parametrize("value", [None, [], [GOOD], "x", 1])
def test_what_is_no_object_is_refused(value: Any) -> None:
    assert [v.keyword for v in violations(risk(), value)] == ["type"]


def test_messages_never_quote_the_value() -> None:
    secret = "a private answer"
    wrong = {**GOOD, "risk_level": secret, "account_id": secret, secret: secret}
    found = violations(risk(), wrong)
    assert len(found) == 3
    assert secret not in repr(found)


def test_pointers_are_escaped_and_bounded() -> None:
    schema = {"additionalProperties": {"type": "integer"}}
    assert violations(schema, {"a/b~c": "x"}) == (
        Violation("/a~1b~0c", "type", "is of another type"),
    )
    (found,) = violations(schema, {"k" * 10_000: "x"})
    assert len(found.pointer) == 300


def test_a_thousand_mistakes_are_shown_by_a_few() -> None:
    assert len(violations({"items": {"type": "integer"}}, ["x"] * 1000)) == MAX_REASONS


def test_objects_that_say_nothing_are_closed_below_too() -> None:
    schema = {"properties": {"rows": {"items": {"properties": {"id": {"type": "integer"}}}}}}
    (found,) = violations(schema, {"rows": [{"id": 1}, {"id": 2, "note": "x"}]})
    assert (found.pointer, found.keyword) == ("/rows/1", "additionalProperties")


def test_formats_are_held() -> None:
    assert violations({"format": "date"}, "2024-02-30")
    assert not violations({"format": "date"}, "2024-02-29")


def test_a_pattern_cannot_stall_the_gate() -> None:
    assert violations({"pattern": "^(a+)+$"}, "a" * 5000 + "b")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"pattern": "("},
        {"pattern": "a(?=b)"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
    ],
)
def test_an_unusable_contract_is_no_answers_fault(schema: dict[str, Any]) -> None:
    with pytest.raises(ContractUnusable):
        violations(schema, {})


def test_a_contract_that_cannot_be_used_is_named_before_any_deployment() -> None:
    good = entry("risk-report")
    check_contracts({"risk-report": good, "words": good.model_copy(update={"contract": None})})
    assert good.contract is not None
    wrong = good.contract.model_copy(update={"schema_": {"properties": {"a": {"type": "int"}}}})
    broken = good.model_copy(update={"contract": wrong})
    with pytest.raises(ContractUnusable) as caught:
        check_contracts({"risk-report": broken})
    assert str(caught.value).startswith("models.risk-report.contract.schema: ")
    assert "/properties/a/type" in str(caught.value)
