"""Every shape in which a vendor may give its counts of tokens, over real HTTP, at each adapter."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.vendor_calls import ask
from tests.unit.vendor_server import Teller, teller
from tests.unit.vendor_wire import PNG, anthropic, cohere, images, openai

ABSENT = object()
PICTURE = {"b64_json": base64.b64encode(PNG).decode()}
ANSWERS: dict[str, dict[str, Any]] = {
    "chat-mini": openai(),
    "chat-claude": anthropic(),
    "code-command": cohere(),
    "image-studio": images(PICTURE),
}
OUTPUT = dict.fromkeys(ANSWERS, "output_tokens") | {"chat-mini": "completion_tokens"}
INPUT = dict.fromkeys(ANSWERS, "input_tokens") | {"chat-mini": "prompt_tokens"}


@pytest.fixture(scope="module")
def vendor() -> Iterator[Teller]:
    with teller() as told:
        yield told


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "usage", [ABSENT, None, {}, [], "7", 7, {"tokens": None, "billed_units": []}]
)
def test_counts_that_are_not_there_are_not_said(vendor: Teller, name: str, usage: Any) -> None:
    body = {key: value for key, value in ANSWERS[name].items() if key != "usage"}
    vendor.says(200, body if usage is ABSENT else {**body, "usage": usage})
    answer = ask(name, vendor.url)
    assert (answer.input_tokens, answer.output_tokens) == (None, None)
    assert answer.text or answer.images


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    ("count", "read"),
    [
        (512, 512),
        (512.0, 512),
        (0, 0),
        (10**12, 10**12),  # bounded by who knows what was asked
        (2**53 - 1, 2**53 - 1),
        (ABSENT, None),
        (None, None),
        ("512", None),
        ("", None),
        (-1, None),
        (-0.5, None),
        (512.5, None),
        (True, None),
        (False, None),
        (float("nan"), None),
        (float("inf"), None),
        (float("-inf"), None),
        (2**53, None),
        (1e300, None),
        (10**4000, None),
        ([512], None),
        ({"count": 512}, None),
    ],
)
def test_a_count_is_a_whole_number_or_was_not_said(
    vendor: Teller, name: str, count: Any, read: Any
) -> None:
    usage = {INPUT[name]: 20} if count is ABSENT else {INPUT[name]: 20, OUTPUT[name]: count}
    shapes = [{"billed_units": usage}, {"tokens": usage}] if name == "code-command" else [usage]
    for shape in shapes:
        vendor.says(200, {**ANSWERS[name], "usage": shape})
        answer = ask(name, vendor.url)
        # What is billed nothing is looked for among what was processed.
        wanted = None if shape == {"billed_units": usage} and read == 0 else read
        assert (answer.input_tokens, answer.output_tokens) == (20, wanted)
