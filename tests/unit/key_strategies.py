"""Any valid request of any model, every way to change one thing in it, every way to write it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.unit.key_requests import MODELS, SCHEMA, Ask
from tidegate.rules.catalogue import Entry
from tidegate.rules.contracts import Contract
from tidegate.rules.epochs import Epochs
from tidegate.rules.policies import Parameter

Change = tuple[str, Ask]

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant"]), "content": WORDS}
)
INPUTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "chat": st.fixed_dictionaries({"messages": st.lists(MESSAGE, min_size=1, max_size=4)}),
    "code": st.fixed_dictionaries(
        {
            "instruction": WORDS,
            "code": ANY_TEXT,
            "language": st.from_regex(r"[A-Za-z0-9+#._-]{1,8}", fullmatch=True),
        }
    ),
    "image": st.fixed_dictionaries({"prompt": WORDS}, optional={"negative_prompt": ANY_TEXT}),
    "extract": st.fixed_dictionaries({"text": WORDS}),
}
NULL_SAID: st.SearchStrategy[bool] = st.booleans()
SAFE = (-(2**53) + 1, 2**53 - 1)


def values(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Return the values a parameter may have."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.choices is not None:
        return st.sampled_from(parameter.choices)
    if parameter.type == "boolean":
        return st.booleans()
    if parameter.type == "string":
        return ANY_TEXT
    if parameter.type == "integer":
        return st.integers(
            SAFE[0] if low is None else int(low), SAFE[1] if high is None else int(high)
        )
    numbers: st.SearchStrategy[Any] = st.floats(low, high, allow_nan=False)
    return numbers | st.sampled_from([0, 1])


def but(strategy: st.SearchStrategy[Any], value: Any) -> st.SearchStrategy[Any]:
    """Return a strategy without one value."""
    return strategy.filter(lambda other: other != value)


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    """Return a valid request of any partner at any time, defaults said or unsaid."""
    name = draw(st.sampled_from([n for n in MODELS.models if not n.endswith("-text")]))
    entry = MODELS.models[name]
    fields: dict[str, Any] = {"model": name, "input": draw(INPUTS[entry.task])}
    optional = {n: values(p) for n, p in entry.parameters.items()}
    params = draw(st.fixed_dictionaries({}, optional=optional))
    if params:
        fields["params"] = params
    if entry.locales:
        fields["locale"] = draw(st.none() | st.sampled_from(entry.locales))
        fields["safety_profile"] = draw(st.none() | st.sampled_from(sorted(entry.safety_profiles)))
    said = {n: v for n, v in fields.items() if v is not None or draw(NULL_SAID)}
    epoch = st.integers(0, 2_000_000_000_000)
    return Ask(
        said,
        partner=draw(WORDS),
        epochs=Epochs(draw(epoch), draw(epoch), draw(epoch)),
        now=draw(st.floats(0, 4e9)),
    )


def changes(ask: Ask, draw: Any) -> Iterator[Change]:
    """Return the request with one thing changed, for each thing there is, under its name."""
    entry = MODELS.models[ask.body["model"]]
    for where, data in _inputs(entry.task, ask.body["input"], draw):
        yield where, ask.saying(input=data)
    yield from _parameters(ask, entry, draw)
    if entry.locales:
        for field, allowed, default in (
            ("locale", [None, *entry.locales], None),
            ("safety_profile", sorted(entry.safety_profiles), entry.default_safety_profile),
        ):
            now = ask.body.get(field) or default
            yield from ((f"{field} {v}", ask.saying(**{field: v})) for v in allowed if v != now)
    name = ask.body["model"]
    twin = name.removesuffix("-two") if name.endswith("-two") else f"{name}-two"
    yield "model", ask.saying(model=twin)
    yield "partner", ask.but(partner=draw(but(WORDS, ask.partner)))
    for field, epoch in ask.epochs._asdict().items():
        yield f"epoch {field}", ask.but(epochs=ask.epochs._replace(**{field: epoch + 1}))
    yield from _definitions(ask, entry)
    for policy in ({"reuse": "never"}, {"join": False}):
        yield f"claim under {policy}", ask.cached(**policy)
    yield "not to be kept", ask.but(stored=False)
    yield "of its time", ask.cached(time_bucket=60)
    yield "shared", ask.cached(scope="shared")


def _inputs(task: str, data: dict[str, Any], draw: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if task != "chat":
        for name, text in data.items():
            texts = WORDS if name != "language" else st.sampled_from(["c", "go", "d++"])
            yield f"input {name}", {**data, name: draw(but(texts, text))}
        if task == "image":
            rest = {"prompt": data["prompt"]}
            other = rest if "negative_prompt" in data else {**rest, "negative_prompt": ""}
            yield "negative_prompt at all", other
        return
    said = data["messages"]
    for at, message in enumerate(said):
        other = {**message, "content": draw(but(WORDS, message["content"]))}
        yield f"content {at}", {"messages": [*said[:at], other, *said[at + 1 :]]}
        for role in {"system", "user", "assistant"} - {message["role"]}:
            other = {**message, "role": role}
            yield f"role {at} {role}", {"messages": [*said[:at], other, *said[at + 1 :]]}
        yield f"message {at} again", {"messages": [*said[:at], message, *said[at:]]}
        if len(said) > 1:
            yield f"no message {at}", {"messages": said[:at] + said[at + 1 :]}
    if said != said[::-1]:
        yield "order of messages", {"messages": said[::-1]}


def _parameters(ask: Ask, entry: Entry, draw: Any) -> Iterator[Change]:
    given = ask.body.get("params", {})
    for name, parameter in entry.parameters.items():
        now = given.get(name, parameter.default)
        other = draw(but(values(parameter), now))
        yield f"params {name} {other!r}", ask.saying(params={**given, name: other})
        if name in given and parameter.default != given[name]:
            rest = {n: v for n, v in given.items() if n != name}
            yield f"params without {name}", ask.saying(params=rest)


def _definitions(ask: Ask, entry: Entry) -> Iterator[Change]:
    contract = entry.contract or Contract.model_validate({"schema": SCHEMA})
    others: dict[str, list[Any]] = {
        "version": ["2"],
        "vendor": ["other"],
        "vendor_model": ["m-2"],
        "adapter": ["cohere-chat", "anthropic-messages"],
        "system": ["Be kind.", ""],
        "normalise": ["text"],
        "ignore_comments": [True],
        "contract": [
            contract.model_copy(update={"version": "2"}),
            contract.model_copy(update={"fenced": True}),
            contract.model_copy(update={"schema_": {}}),
        ],
    }
    for name, each in others.items():
        for value in each:
            yield f"entry {name} {value!r}", ask.but(entry={name: value})


def written(value: Any, chance: Random) -> str:
    """Return a JSON value in one of the ways it can be written."""
    if isinstance(value, dict):
        members = [(written(n, chance), written(v, chance)) for n, v in value.items()]
        chance.shuffle(members)
        inner = ",".join(f"{_gap(chance)}{n}{_gap(chance)}:{v}" for n, v in members)
        text = "{" + inner + _gap(chance) + "}"
    elif isinstance(value, list):
        text = "[" + ",".join(written(each, chance) for each in value) + "]"
    elif isinstance(value, str):
        text = '"' + "".join(_character(c, chance) for c in value) + '"'
    else:
        text = json.dumps(value)
    return _gap(chance) + text + _gap(chance)


def _gap(chance: Random) -> str:
    return "".join(chance.choices(" \t\r\n", k=chance.choice([0, 0, 1, 3])))


def _character(character: str, chance: Random) -> str:
    plain = json.dumps(character, ensure_ascii=False)[1:-1]
    units = character.encode("utf-16-be").hex()
    escaped = "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
    return chance.choice([plain, escaped, escaped.upper().replace("U", "u")])
