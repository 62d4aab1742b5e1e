from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vendor_server import entry
from tidegate.gate.contract import violations
from tidegate.gate.verdict import Verdict, judge
from tidegate.rules.answer import Expected, Given
from tidegate.rules.catalogue import Entry
from tidegate.rules.contracts import Contract
from tidegate.rules.picture import Delivered
from tidegate.rules.strict_json import MAX_DEPTH, loads

CHAT = entry("chat-mini")
CODE = entry("code-command")
IMAGE = entry("image-studio")
RISK = entry("risk-report")
GOOD = {
    "account_id": 7,
    "confidence_score": 0.5,
    "anomaly_detected": False,
    "risk_level": "LOW",
}


def everybody(_set: str, members: frozenset[str]) -> frozenset[str]:
    """Know every member of every set."""
    return members


def said(model: Entry, text: str | None, *, truncated: bool = False) -> Verdict:
    return judge(model, Given(text, truncated=truncated), Expected(), everybody)


def shown(count: int, expected: int) -> Verdict:
    images = (Delivered("image/png", "image/png", 1024, 1024),) * count
    return judge(IMAGE, Given(None, images), Expected(images=expected), everybody)


def codes(verdict: Verdict) -> list[str]:
    assert verdict.passed is not bool(verdict.reasons)
    assert (verdict.output is None) is not verdict.passed
    return [reason.code for reason in verdict.reasons]


def under(**schema: Any) -> Entry:
    return entry("risk-report", contract=Contract.model_validate({"schema": schema}))


@pytest.mark.parametrize("model", [CHAT, CODE])
def test_text_passes_as_it_is(model: Entry) -> None:
    text = "  Hello, \U0001f600\n\tx = {'a': NaN}\n"
    assert said(model, text) == Verdict(passed=True, output={"text": text}, reasons=())


def test_a_report_passes_as_data() -> None:
    assert said(RISK, json.dumps(GOOD)).output == {"data": GOOD}


def test_the_right_number_of_images_passes() -> None:
    assert shown(2, 2) == Verdict(passed=True, output={}, reasons=())


@pytest.mark.parametrize(("count", "expected"), [(0, 1), (1, 2), (2, 1), (0, 0)])
def test_another_number_of_images_fails(count: int, expected: int) -> None:
    assert codes(shown(count, expected)) == ["image_count"]


@pytest.mark.parametrize("model", [CHAT, CODE, RISK])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \n\t", "empty"),
        ("a\x00b", "bad_text"),
        ("a\ud83db", "bad_text"),
        ("half of a pair: \udc00", "bad_text"),
    ],
)
def test_text_that_is_none(model: Entry, text: str | None, code: str) -> None:
    assert codes(said(model, text)) == [code]


@pytest.mark.parametrize("model", [CHAT, CODE, RISK])
def test_a_cut_answer_fails_however_whole_it_looks(model: Entry) -> None:
    assert codes(said(model, json.dumps(GOOD), truncated=True)) == ["truncated"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (json.dumps(GOOD)[:-1], "invalid_json"),
        (json.dumps(GOOD) + " Anything else?", "trailing_text"),
        (json.dumps(GOOD) * 2, "two_candidates"),
        ("I cannot help with that.", "invalid_json"),
        ('{"account_id": 7, "account_id": 8}', "duplicate_member"),
        ('{"confidence_score": NaN}', "not_a_number"),
        ('{"confidence_score": -Infinity}', "not_a_number"),
        ('{"confidence_score": 1e400}', "number_out_of_range"),
        ('{"account_id": 9007199254740993}', "number_out_of_range"),
        ('{"account_id": 1.0000000000000001}', "number_out_of_range"),
        ('{"risk_level": "\\ud83d"}', "bad_text"),
        ("{'account_id': 7}", "invalid_json"),
        ("[" * 100_000, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ("```json\n" + json.dumps(GOOD) + "\n```", "fence"),
    ],
)
def test_what_is_not_one_strict_json_value_fails(text: str, code: str) -> None:
    assert codes(said(RISK, text)) == [code]


def test_every_broken_rule_is_a_reason() -> None:
    verdict = said(RISK, json.dumps({**GOOD, "risk_level": "x", "confidence_score": 7}))
    assert codes(verdict) == ["schema", "schema"]
    assert {reason.pointer for reason in verdict.reasons} == {"/risk_level", "/confidence_score"}


def test_a_fence_passes_only_where_the_entry_says_so() -> None:
    schema = RISK.contract.schema_ if RISK.contract else {}
    contract = Contract.model_validate({"schema": schema, "fenced": True})
    text = "```json\n" + json.dumps(GOOD) + "\n```"
    assert said(entry("risk-report", contract=contract), text).output == {"data": GOOD}


@pytest.mark.parametrize("text", ['{"a": "x\\u0000"}', '{"\\u0000": 1}', '[["\\u0000"]]'])
def test_an_escaped_nul_fails_too(text: str) -> None:
    assert codes(said(under(), text)) == ["bad_text"]


def test_a_contract_holds_for_other_tasks_too() -> None:
    contract = Contract.model_validate({"schema": {"type": "array"}})
    model = entry("chat-mini", contract=contract)
    assert said(model, " [1.0]").output == {"text": "[1]", "data": [1]}
    assert codes(said(model, "{}")) == ["schema"]
    assert codes(said(model, "words")) == ["invalid_json"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("7.0", 7), ("-0.0", 0), ("1e2", 100), ("[2.0, 2.5]", [2, 2.5]), ('{"a": 3.0}', {"a": 3})],
)
def test_whole_numbers_come_out_as_integers(text: str, value: Any) -> None:
    verdict = said(under(), text)
    assert verdict.output is not None
    assert repr(verdict.output["data"]) == repr(value)


def test_numbers_too_large_to_be_exact_stay_as_they_are() -> None:
    verdict = said(under(), "1e300")
    assert verdict.output is not None
    assert repr(verdict.output["data"]) == "1e+300"


def test_neither_reasons_nor_verdicts_quote_the_answer() -> None:
    secret = "the private answer"
    texts = [secret, json.dumps({**GOOD, "risk_level": secret}), json.dumps({secret: secret})]
    for text in texts:
        assert secret not in repr(said(RISK, text))
    assert secret not in repr(said(CHAT, secret))


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
SCHEMA = {
    "type": ["object", "array", "string", "number", "boolean", "null"],
    "maxItems": 3,
    "maxLength": 6,
    "properties": {"a": {"type": "integer"}, "b": {"type": "number"}},
    "additionalProperties": {"type": ["integer", "string"]},
}


@given(VALUES, st.booleans())
def test_whatever_passes_is_storable_valid_and_stable(value: Any, ascii_only: bool) -> None:
    verdict = said(under(**SCHEMA), json.dumps(value, ensure_ascii=ascii_only))
    if not verdict.passed:
        return
    assert verdict.output is not None
    data = verdict.output["data"]
    stored = json.dumps(data, allow_nan=False, ensure_ascii=False).encode()
    assert loads(stored) == data == value
    assert b"\x00" not in stored
    assert violations(SCHEMA, data) == ()
    assert said(under(**SCHEMA), stored.decode()).output == verdict.output


@given(st.text(max_size=120), st.booleans())
def test_any_text_gets_a_verdict(text: str, truncated: bool) -> None:
    for model in (CHAT, RISK):
        codes(said(model, text, truncated=truncated))


@given(
    st.dictionaries(
        st.sampled_from([*GOOD, "other"]),
        st.sampled_from([0, 1, 1.0, 7, 0.5, True, False, None, "LOW", "HIGH", "7", [], {}]),
    )
)
def test_only_the_contract_passes(value: dict[str, Any]) -> None:
    identifier, score = value.get("account_id"), value.get("confidence_score")
    right = (
        set(value) == set(GOOD)
        and not isinstance(identifier, bool)
        and isinstance(identifier, int | float)
        and identifier in {1, 7}
        and not isinstance(score, bool)
        and isinstance(score, int | float)
        and 0 <= score <= 1
        and isinstance(value["anomaly_detected"], bool)
        and value["risk_level"] in ("LOW", "MEDIUM", "HIGH")
    )
    assert said(RISK, json.dumps(value)).passed is right


@given(VALUES, st.text(st.characters(codec="utf-8"), min_size=1, max_size=5))
def test_text_after_the_value_always_fails(value: Any, more: str) -> None:
    text = json.dumps({"v": value}) + more
    if more.strip(" \t\r\n"):
        assert not said(under(), text).passed


@given(st.integers(MAX_DEPTH + 1, 3000))
def test_depth_always_fails(depth: int) -> None:
    assert not said(under(), "[" * depth + "]" * depth).passed


@given(st.sampled_from(list(GOOD)), VALUES)
def test_a_member_given_twice_always_fails(name: str, value: Any) -> None:
    text = f'{{"{name}": {json.dumps(value)}, {json.dumps(GOOD)[1:]}'
    assert not said(RISK, text).passed
