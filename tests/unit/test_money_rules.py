"""Prices: whole micro-credits, reserved high enough, captured never above it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_catalogue import ENTRY
from tidegate.rules.catalogue import CatalogueError, Entry, parse
from tidegate.rules.job import Usage
from tidegate.rules.money import (
    MICRO,
    charge,
    credits_to_micro,
    micro_to_credits,
    reservation,
)
from tidegate.rules.tokens import at_most

MAX_TOKENS = {"max_tokens": {"type": "integer", "default": 100, "minimum": 1, "maximum": 10**6}}
PRICES = st.fixed_dictionaries(
    {
        name: st.integers(0, 10**6)
        for name in ("per_call", "per_1k_input_tokens", "per_1k_output_tokens", "per_image")
    }
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def entry(**fields: Any) -> Entry:
    document = {"models": {"m": {**ENTRY, "parameters": MAX_TOKENS, **fields}}}
    return parse(document).models["m"]


@given(PRICES, TEXTS, st.integers(0, 5000), st.data())
def test_what_was_reserved_covers_what_was_asked_for(
    price: dict[str, int], text: str, limit: int, data: st.DataObject
) -> None:
    priced = entry(price=price)
    asked = {"messages": [{"role": "user", "content": text}]}
    params = {"max_tokens": limit}
    most = at_most(priced.system, asked, params)
    assert most.output_tokens == limit
    reserved = reservation(priced, most, params)
    usage = Usage(data.draw(st.integers(0, most.input_tokens)), data.draw(st.integers(0, limit)))
    cost = charge(priced, usage, 0, reserved)
    assert 0 <= cost <= reserved
    # Within the limits nothing is given away: the whole cost fits what was set aside.
    assert cost == charge(priced, usage, 0, 10**12)


@given(PRICES, st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10), st.integers(0))
def test_never_more_than_reserved(
    price: dict[str, int], given_in: int, given_out: int, images: int, reserved: int
) -> None:
    priced = entry(price=price)
    assert charge(priced, Usage(given_in, given_out), images, reserved) <= reserved


@given(TEXTS)
def test_an_estimate_is_no_less_than_a_token_for_two_bytes(text: str) -> None:
    asked = {"text": text}
    assert at_most(None, asked, {}).input_tokens * 2 >= len(text.encode())


def test_a_part_of_a_thousand_is_rounded_up() -> None:
    priced = entry(price={"per_1k_input_tokens": 1, "per_1k_output_tokens": 1})
    assert charge(priced, Usage(1, 1), 0, 100) == 2
    assert charge(priced, Usage(1000, 1001), 0, 100) == 3


def test_images_are_charged_as_delivered() -> None:
    priced = entry(task="image", adapter="openai-images", price={"per_image": 40_000})
    assert reservation(priced, Usage(), {"n": 3}) == 120_000
    assert charge(priced, Usage(), 2, 120_000) == 80_000


def test_a_price_of_output_needs_a_limit_of_output() -> None:
    document = {"models": {"m": {**ENTRY, "price": {"per_1k_output_tokens": 5}}}}
    with pytest.raises(CatalogueError, match="max_tokens"):
        parse(document)


@given(st.integers(1, 10**15))
def test_credits_are_read_to_the_last_micro_credit(micro: int) -> None:
    text = f"{micro // MICRO}.{micro % MICRO:06d}"
    assert credits_to_micro(text) == micro


@pytest.mark.parametrize("text", ["0", "-1", "NaN", "Infinity", "1e400", "0.0000001", "ten", ""])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="credits"):
        credits_to_micro(text)


def test_people_see_credits() -> None:
    assert micro_to_credits(40_000) == 0.04
