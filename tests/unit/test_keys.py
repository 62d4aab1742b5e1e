"""Job key and fingerprint: one name for one thing, another for anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline import catalogue
from tidegate.errors import IdempotencyKeyInvalid, IdempotencyKeyMissing
from tidegate.rules import keys
from tidegate.rules.canonical import sha256
from tidegate.rules.request import JobBody, parse

MODELS = catalogue()
BASE: dict[str, Any] = {
    "model": "chat-mini",
    "input": {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    },
    "params": {"temperature": 0.5, "max_tokens": 100, "seed": 1},
}


def key_of(body: dict[str, Any], partner: str = "acme", claim: str = "c") -> str:
    request = parse(json.dumps(body).encode(), MODELS)
    return keys.job_key(request, MODELS.models[request.model], partner=partner, claim=claim)


def fingerprint_of(body: dict[str, Any]) -> str:
    return keys.fingerprint(parse(json.dumps(body).encode(), MODELS))


CHANGES: list[dict[str, Any]] = [
    {"params": {**BASE["params"], "temperature": 0.6}},
    {"params": {**BASE["params"], "max_tokens": 101}},
    {"params": {**BASE["params"], "seed": 2}},
    {"params": {**BASE["params"], "top_p": 0.5}},
    {"input": {"messages": [{"role": "user", "content": "Hi"}]}},
    {"input": {"messages": [{"role": "user", "content": "Be brief.Hi"}]}},
    {"input": {"messages": list(reversed(BASE["input"]["messages"]))}},
    {"model": "chat-claude", "params": {"temperature": 0.5, "max_tokens": 100}},
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_defines_the_work_is_another_key(change: dict[str, Any]) -> None:
    assert key_of({**BASE, **change}) != key_of(BASE)
    assert fingerprint_of({**BASE, **change}) != fingerprint_of(BASE)


def test_every_field_of_a_body_is_decided_about() -> None:
    """A new field joins the key by itself; leaving one out is a decision made in `keys`."""
    assert set(JobBody.model_fields) == {"model"} | keys.NOT_IN_JOB_KEY | keys.RESOLVED


@pytest.mark.parametrize(
    "change", [{"priority": "low"}, {"deadline_seconds": 60}, {"metadata": {"a": "b"}}]
)
def test_what_does_not_change_the_answer_is_not_in_the_key(change: dict[str, Any]) -> None:
    assert key_of({**BASE, **change}) == key_of(BASE)
    assert fingerprint_of({**BASE, **change}) != fingerprint_of(BASE)  # but it is another body


def test_a_default_said_and_unsaid_is_the_same_work() -> None:
    plain = {"model": "chat-mini", "input": BASE["input"]}
    assert key_of({**plain, "params": {"temperature": 0.0}}) == key_of(plain)
    assert key_of({**plain, "params": {"temperature": 0}}) == key_of(plain)


def test_partners_do_not_share_work() -> None:
    assert key_of(BASE, partner="umbrella") != key_of(BASE)


def test_the_claim_is_in_the_key_only_where_answers_are_not_reused() -> None:
    assert key_of(BASE, claim="x") == key_of(BASE, claim="y")  # chat-mini: always
    chance = {"model": "chat-claude", "input": BASE["input"]}  # deterministic; temperature is 1
    assert key_of(chance, claim="x") != key_of(chance, claim="y")
    fixed = {**chance, "params": {"temperature": 0}}
    assert key_of(fixed, claim="x") == key_of(fixed, claim="y")


def test_text_is_normalised_and_nothing_more() -> None:
    def said(text: str, model: str = "chat-mini") -> str:
        message = {"role": "user", "content": text}
        return key_of({"model": model, "input": {"messages": [message]}}, claim="c")

    assert said("caf\u00e9\r\n") == said("cafe\u0301")
    assert said("do X") != said("do not X")
    assert said("a  b") != said("a b")
    assert said("10 mg") != said("100 mg")


def test_the_definition_of_an_entry_is_in_the_key() -> None:
    request = parse(json.dumps(BASE).encode(), MODELS)
    entry = MODELS.models["chat-mini"]
    changed = [
        entry.model_copy(update={"version": "2"}),
        entry.model_copy(update={"vendor_model": "other"}),
        entry.model_copy(update={"system": "Be kind."}),
        entry.model_copy(update={"vendor": "other"}),
    ]
    names = {keys.job_key(request, each, partner="acme", claim="c") for each in [entry, *changed]}
    assert len(names) == 5


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Return whether two JSON values are one: types told apart, whole floats as integers."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) and isinstance(a, str) == isinstance(b, str)


@given(JSON_VALUES, JSON_VALUES)
def test_two_values_share_a_hash_only_if_they_are_one(a: Any, b: Any) -> None:
    assert (sha256(a) == sha256(b)) == same(a, b)


@given(st.dictionaries(st.text(max_size=4), st.integers(0, 9), max_size=6), st.randoms())
def test_the_order_of_members_does_not_matter(value: dict[str, int], random: Any) -> None:
    shuffled = list(value.items())
    random.shuffle(shuffled)
    cleaned = {k.encode("utf-8", "ignore").decode(): v for k, v in shuffled}
    ordered = {k: cleaned[k] for k in sorted(cleaned)}
    assert sha256(cleaned) == sha256(ordered)


def test_parts_of_a_claim_cannot_run_together() -> None:
    assert keys.claim_id("a", "jobs", "bc") != keys.claim_id("ab", "jobs", "c")
    assert keys.claim_id("a", "jobs", "k") != keys.claim_id("a", "images", "k")


@pytest.mark.parametrize("good", ["k", "k" * 255, "a-b_c.d:e", '""', "~!@#$%^&*()"])
def test_a_good_idempotency_key(good: str) -> None:
    assert keys.idempotency_key([good]) == good


@pytest.mark.parametrize("bad", [[""], ["a b"], ["é"], ["k" * 256], ["a\n"], ["a", "b"]])
def test_a_bad_idempotency_key(bad: list[str]) -> None:
    with pytest.raises(IdempotencyKeyInvalid):
        keys.idempotency_key(bad)


def test_no_idempotency_key() -> None:
    with pytest.raises(IdempotencyKeyMissing):
        keys.idempotency_key([])
