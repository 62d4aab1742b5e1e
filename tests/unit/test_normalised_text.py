"""Normalisation `text`: equal in Unicode's sense is equal, and no text takes long."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.rules.normalise.text import MOST_MARKS, text

ACUTE, BELOW = "\u0301", "\u0323"
TIBETAN = "\u0f73"
"""Of no combining class, and made of two marks of two classes."""

LETTERS = st.text(
    st.sampled_from(f"aeo\u00e9\u01d6\uac00\u1100\u1161{ACUTE}{BELOW}{TIBETAN} \n\r"), max_size=25
)


@given(LETTERS | st.text(st.characters(exclude_categories=["Cs"]), max_size=25))
def test_canonically_equal_texts_are_one(value: str) -> None:
    forms = {text(unicodedata.normalize(form, value)) for form in ("NFC", "NFD")}
    assert forms == {text(value)}
    assert text(text(value)) == text(value)


def test_the_order_of_a_few_marks_does_not_matter_and_of_very_many_it_does() -> None:
    for count, equal in ((MOST_MARKS // 2, True), (MOST_MARKS // 2 + 1, False)):
        one, other = (f"x{first * count}{second * count}y" for first, second in
                      ((ACUTE, BELOW), (BELOW, ACUTE)))  # fmt: skip
        assert (text(one) == text(other)) is equal


def test_a_text_with_very_many_marks_stays_as_it_is() -> None:
    many = "e" + ACUTE * (MOST_MARKS + 1)
    assert text(f"  {many}\r\n\u212b \n") == f"{many}\n\u212b"


@pytest.mark.parametrize(
    "value",
    [
        (ACUTE + BELOW) * 49_500,
        "a" + ACUTE * 49_500 + BELOW * 49_500,
        TIBETAN * 66_000,
        ("a" + (ACUTE + BELOW) * (MOST_MARKS // 2)) * 3_245,
        ("\u01d6" + BELOW * MOST_MARKS) * 3_100,
        "\U0001d160" * 49_000,
        "\u0344" * 99_000,
        "\u1161" * 66_000,
    ],
    ids=["alternating", "two runs", "tibetan", "most", "composed", "music", "twos", "vowels"],
)
def test_no_text_of_198_kb_takes_long(
    value: str, record_property: Callable[[str, object], None]
) -> None:
    begun = time.process_time()
    text(value)
    took = time.process_time() - begun
    record_property("ms", round(took * 1000))
    assert took < 0.5
