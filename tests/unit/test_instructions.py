"""What a model is told before the partner's words, and what a partner may choose of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.key_requests import MODELS, TOLD, chat, image
from tests.unit.vendor_server import entry as shipped
from tidegate.errors import InvalidRequest
from tidegate.rules import image_request
from tidegate.rules.catalogue import Entry, parse
from tidegate.rules.instructions import problems, told
from tidegate.rules.request import JobRequest


def entry(**fields: Any) -> Entry:
    return parse({"models": {"m": {**TOLD, **fields}}}).models["m"]


@pytest.mark.parametrize(
    ("fields", "locale", "profile", "system"),
    [
        ({}, None, None, "Be brief.\n\nDecline advice."),
        ({}, None, "frank", "Be brief.\n\nSpeak plainly."),
        ({"default_safety_profile": None}, None, None, "Be brief."),
        ({"default_safety_profile": None, "system": None}, None, None, None),
        ({"system": ""}, None, "frank", "Speak plainly."),
        (
            {"default_safety_profile": None, "system": None},
            "ja",
            None,
            "Answer in the language and conventions of the locale ja.",
        ),
        (
            {},
            "DE-de",
            "frank",
            "Be brief.\n\nSpeak plainly.\n\n"
            "Answer in the language and conventions of the locale de-DE.",
        ),
    ],
)
def test_what_a_model_is_told(
    fields: dict[str, Any], locale: str | None, profile: str | None, system: str | None
) -> None:
    assert problems(entry(**fields), locale, profile) == []
    assert told(entry(**fields), locale, profile).system == system


def test_a_request_holds_what_was_chosen_and_what_it_comes_to() -> None:
    request = chat(locale="EN-GB").request()
    assert (request.locale, request.safety_profile) == ("en-GB", "strict")
    assert request.system == told(MODELS.models["chat"], "en-GB", "strict").system
    assert request.body.safety_profile is None  # what was sent stays as it was sent


@pytest.mark.parametrize(
    ("fields", "pointer", "why"),
    [
        ({"locale": "fr-FR"}, "/locale", "must be one of en-GB, de-DE, ja"),
        ({"locale": "en"}, "/locale", "must be one of"),
        ({"locale": "en_GB"}, "/locale", "pattern"),
        ({"locale": "en-"}, "/locale", "pattern"),
        ({"locale": "en-GB\n"}, "/locale", "pattern"),
        ({"locale": ""}, "/locale", "pattern"),
        ({"locale": "en" + "-b" * 20}, "/locale", "at most 35"),
        ({"locale": 1}, "/locale", "string"),
        ({"locale": ["ja"]}, "/locale", "string"),
        ({"safety_profile": "Strict"}, "/safety_profile", "must be one of frank, strict"),
        ({"safety_profile": ""}, "/safety_profile", "at least 1"),
        ({"safety_profile": True}, "/safety_profile", "string"),
    ],
)
def test_what_may_not_be_chosen(fields: dict[str, Any], pointer: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why) as error:
        chat(**fields).request()
    assert [at for at, _ in error.value.pointers] == [pointer]


def test_a_model_without_any_says_so_and_both_at_once() -> None:
    plain = chat(locale="ja", safety_profile="strict").but(
        entry={"locales": (), "safety_profiles": {}, "default_safety_profile": None}
    )
    with pytest.raises(InvalidRequest) as error:
        plain.request()
    assert error.value.pointers == (
        ("/locale", "this model takes no locale"),
        ("/safety_profile", "this model has no safety profiles"),
    )


def flat(**fields: Any) -> JobRequest:
    body = {"model": "image", "prompt": "A boat", **fields}
    return image_request.parse(json.dumps(body).encode(), MODELS)


def nested(**fields: Any) -> JobRequest:
    return image().saying(**fields).request()


@pytest.mark.parametrize("field", ["locale", "safety_profile"])
@pytest.mark.parametrize("asked", [flat, nested])
def test_pictures_are_told_nothing(field: str, asked: Callable[..., JobRequest]) -> None:
    with pytest.raises(InvalidRequest, match="this model") as error:
        asked(**{field: "ja"})
    assert [at for at, _ in error.value.pointers] == [f"/{field}"]


def test_a_flat_body_without_them_is_the_same_request() -> None:
    request = flat(seed=3, locale=None)
    assert request == nested(params={"seed": 3})
    assert request.system is None


@given(st.sampled_from([None, "strict", "frank"]), st.sampled_from([None, "en-US", "ja-JP"]))
def test_the_shipped_chat_model_can_be_told_each(profile: str | None, locale: str | None) -> None:
    model = shipped("chat-mini")
    assert problems(model, locale, profile) == []
    system = told(model, locale, profile).system or ""
    assert (locale or "") in system
    assert model.safety_profiles.get(profile or "", "") in system
    assert (system == "") == (profile is None and locale is None)
