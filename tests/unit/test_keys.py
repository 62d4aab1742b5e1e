"""Job key and fingerprint: one name for one thing, another for anything else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.key_requests import NEVER, Ask, chat, code, turns
from tidegate.errors import IdempotencyKeyInvalid, IdempotencyKeyMissing
from tidegate.rules import keys
from tidegate.rules.canonical import sha256
from tidegate.rules.epochs import Epochs
from tidegate.rules.normalise import Structure, structured


def test_partners_do_not_share_work_unless_the_entry_says_so() -> None:
    assert chat().key() != chat().but(partner="umbrella").key()
    shared = chat().cached(scope="shared")
    assert shared.key() == shared.but(partner="umbrella").key()


def test_each_invalidation_makes_a_partners_answers_unreachable() -> None:
    epochs = [Epochs(), Epochs(model=7), Epochs(partner=7), Epochs(both=7), Epochs(7, 7, 7)]
    assert len({chat().but(epochs=each).key() for each in epochs}) == len(epochs)


def test_only_the_models_invalidation_touches_what_is_shared() -> None:
    shared = chat().cached(scope="shared")
    assert shared.but(epochs=Epochs(partner=7, both=7)).key() == shared.key()
    assert shared.but(epochs=Epochs(model=7)).key() != shared.key()


@pytest.mark.parametrize(
    ("policy", "params", "reused"),
    [
        ({"reuse": "always"}, {"temperature": 1}, True),
        ({"reuse": "never"}, {"temperature": 0}, False),
        ({"reuse": "deterministic"}, {"temperature": 1}, False),
        ({"reuse": "deterministic"}, {"temperature": 1e-9}, False),
        ({"reuse": "deterministic"}, {"temperature": 0}, True),
        ({"reuse": "deterministic"}, {}, True),  # the entry's default is 0
        ({"reuse": "deterministic"}, {"temperature": 1, "seed": 0}, True),
    ],
)
def test_which_finished_answers_may_be_used_again(
    policy: dict[str, Any], params: dict[str, Any], reused: bool
) -> None:
    ask = chat(params=params).cached(**policy)
    assert keys.reuses_finished(ask.model, ask.request().params) is reused


@pytest.mark.parametrize(
    ("policy", "stored", "joined"),
    [
        ({"reuse": "always"}, True, True),
        ({"reuse": "always"}, False, False),
        ({"reuse": "always", "join": False}, True, False),
        ({"reuse": "deterministic"}, True, True),
        ({"reuse": "deterministic", "join": False}, True, False),
        ({"reuse": "never"}, True, False),
        ({"reuse": "never", "join": False}, False, False),
    ],
)
def test_the_claim_is_in_the_key_only_where_nothing_is_joined(
    policy: dict[str, Any], stored: bool, joined: bool
) -> None:
    """Chance makes no difference: what a temperature of 1 says is joined while it runs."""
    ask = chat(params={"temperature": 1}).cached(**policy).but(stored=stored)
    assert keys.joins(ask.model, stored) is joined
    assert (ask.key() == ask.but(claim="claim-2").key()) is joined


def test_answers_of_their_time_are_of_one_stretch_of_it() -> None:
    daily = chat().cached(time_bucket=86_400)
    names = [daily.but(now=now).key() for now in (0.0, 86_399.9, 86_400.0, 172_799.0, 172_800.0)]
    assert names[0] == names[1] != names[2] == names[3] != names[4]


@pytest.mark.parametrize("names", [(), ("total",)])
def test_a_structure_never_meets_a_request_as_it_was_sent(names: tuple[str, ...]) -> None:
    ask = code("v0 = 1")
    plain = ask.meaning()
    renamed = keys.structural(plain, Structure(plain["input"], names))
    assert renamed["input"] == plain["input"]
    assert keys.job_key(renamed, NEVER) != keys.job_key(plain, NEVER)


def test_a_structure_is_of_its_whole_request() -> None:
    """Its names are not in the key; everything else of the request is."""

    def key(ask: Ask, *names: str) -> str:
        same = Structure({"code": "v0 = 1"}, names)
        return keys.job_key(keys.structural(ask.meaning(), same), ask.epochs)

    ask = code("a = 1")
    assert key(ask, "a") == key(code("b = 1"), "b")
    for other in (
        ask.saying(params={"seed": 1}), ask.saying(locale="ja"), ask.but(partner="umbrella"),
        ask.but(epochs=Epochs(model=1)), ask.but(entry={"version": "2"}), ask.but(stored=False),
    ):  # fmt: skip
        assert key(other) != key(ask)


def test_code_under_other_names_meets_by_its_structure_alone() -> None:
    def found(text: str) -> tuple[str, str]:
        ask = code(text).but(entry={"normalise": "code-structure"})
        structure = structured(ask.request().body.input, ignore_comments=False)
        assert structure is not None
        meaning = ask.meaning()
        return ask.key(), keys.job_key(keys.structural(meaning, structure), ask.epochs)

    one = found("def f(a):\n    b = a + 1\n    return b\n")
    other = found("def f(a):\n    c = a + 1\n    return c\n")
    third = found("def f(a):\n    c = a + 2\n    return c\n")
    assert one[1] == other[1] != third[1]
    assert len({*one, *other, *third}) == 5


def test_making_a_key_changes_nothing() -> None:
    ask = chat()
    meaning, again = ask.meaning(), ask.meaning()
    keys.structural(meaning, Structure({}, ()))
    keys.job_key(meaning, NEVER)
    assert meaning == again


def test_keys_of_another_make_up_are_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    key = chat().key()
    monkeypatch.setattr(keys, "KEY_SCHEMA", keys.KEY_SCHEMA + 1)
    assert chat().key() != key


def test_a_retry_over_a_deployment_is_the_same_body() -> None:
    """The fingerprint as it was stored before a body had a locale or a safety profile."""
    ask = turns(("user", "hi"))
    old = {
        "model": "chat",
        "input": {"messages": [{"role": "user", "content": "hi"}]},
        "params": {},
        "priority": "normal",
        "deadline_seconds": None,
        "metadata": {},
    }
    assert keys.fingerprint(ask.request()) == sha256(old)
    assert keys.fingerprint(ask.saying(locale="ja").request()) == sha256({**old, "locale": "ja"})


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
