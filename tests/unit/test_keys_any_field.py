"""Any valid request: one thing changed is another key, the same thing written otherwise is not."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.properties import ANY_MACHINE
from tests.unit.key_requests import MODELS, Ask
from tests.unit.key_strategies import asks, changes, written
from tidegate.rules import keys
from tidegate.rules.policies import Parameter


def quick(examples: int) -> settings:
    """Return settings without shrinking: a failure names the change, and shrinking is slow."""
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=ANY_MACHINE,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )


@quick(60)
@given(asks(), st.data())
def test_one_thing_changed_is_another_key(ask: Ask, data: Any) -> None:
    key = ask.key()
    same = [what for what, changed in changes(ask, data.draw) if changed.key() == key]
    assert same == []


@quick(60)
@given(asks(), st.data())
def test_a_change_of_the_body_is_another_body_under_an_idempotency_key(ask: Ask, data: Any) -> None:
    before = keys.fingerprint(ask.request())
    bodies = [(what, c) for what, c in changes(ask, data.draw) if c.body != ask.body]
    assert bodies
    assert [what for what, c in bodies if keys.fingerprint(c.request()) == before] == []


@quick(100)
@given(asks(), st.randoms(use_true_random=False))
def test_the_same_request_written_otherwise_is_the_same_key(ask: Ask, chance: Random) -> None:
    raw = written(dict(ask.body), chance)
    assert ask.key(raw) == ask.key()
    assert keys.fingerprint(ask.request(raw)) == keys.fingerprint(ask.request())


@quick(100)
@given(asks(), st.sampled_from(["low", "normal"]), st.integers(10, 86_400), st.text(max_size=9))
def test_what_does_not_change_the_answer_is_not_in_the_key(
    ask: Ask, priority: str, seconds: int, note: str
) -> None:
    note = note.encode("utf-8", "ignore").decode()
    other = ask.saying(priority=priority, deadline_seconds=seconds, metadata={"note": note})
    assert other.but(claim="another").key() == ask.key()


@quick(100)
@given(asks())
def test_defaults_said_are_the_same_key(ask: Ask) -> None:
    model = ask.model
    unsaid = {n: p.default for n, p in model.parameters.items() if p.default is not None}
    said = ask.saying(params={**unsaid, **ask.body.get("params", {})})
    if model.default_safety_profile and not ask.body.get("safety_profile"):
        said = said.saying(safety_profile=model.default_safety_profile)
    assert said.key() == ask.key()


def told_apart(ask: Ask) -> str:
    """Return what makes a request of a model whose inputs are exact, written down on its own."""
    body, model = ask.body, MODELS.models[ask.body["model"]]
    given = body.get("params", {})
    params = {n: _value(p, given.get(n, p.default)) for n, p in model.parameters.items()}
    policy = ask.model.cache
    return repr(
        (
            body["model"],
            sorted((n, repr(v)) for n, v in body["input"].items()),
            params,
            body.get("locale"),
            body.get("safety_profile") or model.default_safety_profile,
            None if policy.scope == "shared" else ask.partner,
            ask.epochs.model if policy.scope == "shared" else ask.epochs,
            {n: v for n, v in ask.entry.items() if n != "cache"},
            policy.time_bucket,
            ask.stored and policy.join and policy.reuse != "never",
        )
    )


def _value(parameter: Parameter, value: Any) -> Any:
    """Return a value as it is told apart: 1 and 1.0 are one number, and so are 0 and -0."""
    return value if parameter.type != "number" or value is None else float(value) + 0.0


@quick(40)
@given(asks(), st.data())
def test_any_two_of_many_have_one_key_only_if_they_are_one_request(ask: Ask, data: Any) -> None:
    first = list(changes(ask, data.draw))
    _, second = data.draw(st.sampled_from([each for each in first if not each[1].entry]))
    every = [ask, *(a for _, a in first), second, *(a for _, a in changes(second, data.draw))]
    keys_of = {told_apart(each): each.key() for each in every}
    assert len(set(keys_of.values())) == len(keys_of)
    assert all(each.key() == keys_of[told_apart(each)] for each in every)
