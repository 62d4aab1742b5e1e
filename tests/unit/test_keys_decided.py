"""A new field of a request or an entry is decided about: in the job key, or left out of it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.unit.key_requests import Ask, chat, extract
from tidegate.rules import keys
from tidegate.rules.catalogue import Entry
from tidegate.rules.request import JobBody, JobRequest

BODY = {"model", "response_schema"}
"""Fields of a body that are in the key as they are sent."""

REQUEST = {"task", "params", "locale", "safety_profile", "system"}
"""Fields of a request, besides its body, that are in the key."""

DEFINITION = {
    "adapter", "vendor", "vendor_model", "version", "task", "system", "normalise",
    "ignore_comments", "contract", "answer",
}  # fmt: skip
"""Keys of an entry that are in the key."""

EXCLUDED: dict[type[BaseModel], tuple[str, frozenset[str]]] = {
    JobBody: ("BODY", keys.NOT_IN_JOB_KEY | keys.RESOLVED),
    JobRequest: ("REQUEST", frozenset({"body"})),
    Entry: ("DEFINITION", keys.NOT_IN_DEFINITION),
}
LISTS = {"BODY": BODY, "REQUEST": REQUEST, "DEFINITION": DEFINITION}


def undecided(kind: type[BaseModel]) -> str:
    """Return what is to be done about fields of `kind`, or of the class it extends; or nothing."""
    known = next(each for each in kind.__mro__ if each in EXCLUDED)
    name, excluded = EXCLUDED[known]
    new = set(kind.model_fields) - LISTS[name] - excluded
    gone = (LISTS[name] | excluded) - set(kind.model_fields)
    found = [
        f"{known.__name__}.{field} is new. It is in the job key already: if it changes the answer, "
        f"add it to {name} here and a pair to test_keys_wrong_hits; if it never does, exclude it "
        "in tidegate.rules.keys and say why there."
        for field in sorted(new)
    ]
    found += [
        f"{known.__name__} has no field {field} any more: take it off the list it is on, here or "
        "in tidegate.rules.keys, and raise KEY_SCHEMA if it was in the key."
        for field in sorted(gone)
    ]
    return "\n".join(found)


@pytest.mark.parametrize("kind", EXCLUDED)
def test_every_field_is_decided_about(kind: type[BaseModel]) -> None:
    assert undecided(kind) == "", undecided(kind)


@pytest.mark.parametrize("kind", EXCLUDED)
def test_no_field_is_both_in_the_key_and_left_out(kind: type[BaseModel]) -> None:
    name, excluded = EXCLUDED[kind]
    assert LISTS[name] & excluded == set()


class LargerBody(JobBody):
    """A body with a field that nobody has decided about."""

    colour: str = "red"


class LargerRequest(JobRequest):
    """A request with one."""

    colour: str = "red"


class LargerEntry(Entry):
    """An entry with one."""

    colour: str = "red"


@pytest.mark.parametrize("kind", [LargerBody, LargerRequest, LargerEntry])
def test_a_new_field_is_noticed_by_name(kind: type[BaseModel]) -> None:
    assert ".colour is new. It is in the job key already" in undecided(kind)


@pytest.mark.parametrize("kind", EXCLUDED)
def test_a_field_that_is_gone_is_noticed(kind: type[BaseModel]) -> None:
    name, _ = EXCLUDED[kind]
    LISTS[name].add("colour")
    try:
        assert "has no field colour any more" in undecided(kind)
    finally:
        LISTS[name].remove("colour")


def meaning(request: JobRequest, entry: Entry) -> dict[str, Any]:
    return keys.meaning(request, entry, partner="acme", claim="c", now=0.0)


def coloured(ask: Ask, kind: type[BaseModel], colour: str) -> dict[str, Any]:
    """Return the meaning of a request, itself or its body or model with a field more."""
    request, entry = ask.request(), ask.model
    fields = request.model_dump()
    if kind is LargerBody:
        body = LargerBody(**fields["body"], colour=colour)
        return meaning(request.model_copy(update={"body": body}), entry)
    if kind is LargerRequest:
        return meaning(LargerRequest(**{**fields, "body": request.body}, colour=colour), entry)
    larger = {**entry.model_dump(by_alias=True), "colour": colour}
    return meaning(request, LargerEntry.model_validate(larger))


@pytest.mark.parametrize("kind", [LargerBody, LargerRequest, LargerEntry])
@pytest.mark.parametrize("ask", [chat(), extract("x")])
def test_a_new_field_is_in_the_key_by_itself(kind: type[BaseModel], ask: Ask) -> None:
    red, blue = coloured(ask, kind, "red"), coloured(ask, kind, "blue")
    assert red != blue
    assert red != meaning(ask.request(), ask.model)


def test_the_make_up_of_a_key() -> None:
    """All of a key, to be read. If this changes, raise KEY_SCHEMA."""
    ask = chat("Hi", locale="ja", params={"seed": 1}, metadata={"a": "b"})
    assert keys.KEY_SCHEMA == 3
    assert ask.meaning() == {
        "scope": ["partner", "acme"],
        "entry": {
            "adapter": "openai-chat",
            "vendor": "openai",
            "vendor_model": "m-1",
            "version": "1",
            "task": "chat",
            "system": "Be brief.",
            "normalise": "exact",
            "ignore_comments": False,
            "contract": None,
            "answer": {
                "max_characters": None,
                "fenced": False,
                "parses": False,
                "fewer_images": False,
            },
        },
        "body": {"model": "chat", "response_schema": None},
        "resolved": {
            "task": "chat",
            "params": {
                "temperature": 0.0,
                "max_tokens": 64,
                "seed": 1,
                "style": "plain",
                "logprobs": False,
            },
            "locale": "ja",
            "safety_profile": "strict",
            "system": "Be brief.\n\nDecline advice.\n\n"
            "Answer in the language and conventions of the locale ja.",
        },
        "input": {"messages": [{"role": "user", "content": "Hi"}]},
        "names": "own",
        "time": None,
        "claim": None,
    }
