"""Which images pass: their number, their headers, what they were said to be, their size."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties import ANY_MACHINE
from tidegate.gate.images import problems
from tidegate.gate.reason import CODES, MAX_REASONS
from tidegate.rules.picture import Delivered

SQUARE = Delivered("image/png", "image/png", 1024, 1024)
NO_IMAGE = Delivered("image/png", None, 0, 0)


def image(width: int, height: int, declared: str | None = None, kind: str = "image/png") -> Any:
    return Delivered(declared, kind, width, height)


def found(
    *images: Delivered,
    expected: int = 1,
    ratio: str | None = None,
    size: str | None = None,
    fewer: bool = False,
) -> list[tuple[str, str]]:
    return [each[:2] for each in problems(images, expected, ratio, size, fewer)]


@pytest.mark.parametrize(
    ("came", "expected", "fewer", "passes"),
    [
        (1, 1, False, True),
        (4, 4, False, True),
        (0, 1, False, False),
        (0, 1, True, False),
        (0, 0, True, False),
        (1, 2, False, False),
        (1, 2, True, True),
        (3, 2, False, False),
        (3, 2, True, False),
    ],
)
def test_as_many_as_were_asked_for(came: int, expected: int, fewer: bool, passes: bool) -> None:
    wrong = [] if passes else [("image_count", "/images")]
    assert found(*[SQUARE] * came, expected=expected, fewer=fewer) == wrong


@pytest.mark.parametrize(
    "declared",
    [None, "", " ", "; charset=utf-8", "image/jpeg", "image/jpg", "IMAGE/JPEG", " image/jpeg ",
     "image/jpeg;q=1", "Image/JPG ; charset=binary"],
)  # fmt: skip
def test_a_type_said_and_kept(declared: str | None) -> None:
    assert found(image(1, 1, declared, "image/jpeg")) == []


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("image/png", "image/jpeg"),
        ("image/jpg", "image/png"),
        ("image/svg+xml", "image/png"),
        ("image/svg", "image/svg+xml"),
        ("text/html", "image/svg+xml"),
        ("image/", "image/png"),
        ("png", "image/png"),
        ("image/png, image/jpeg", "image/png"),
    ],
)
def test_a_type_said_and_not_kept(declared: str, kind: str) -> None:
    assert found(image(1, 1, declared, kind)) == [("image_type", "/images/0")]


@pytest.mark.parametrize(
    ("ratio", "width", "height", "passes"),
    [
        ("3:2", 1536, 1024, True),
        ("3:2", 1024, 1536, False),
        ("3:2", 1024, 1024, False),
        ("1:1", 1, 1, True),
        ("1:1", 1020, 1000, True),
        ("1:1", 10_201, 10_000, False),
        ("1:1", 980, 1000, True),
        ("1:1", 9_799, 10_000, False),
        ("16:9", 1344, 768, True),
        ("16:9", 1408, 768, False),
        ("1:2", 51, 100, True),
        ("1:2", 52, 100, False),
        ("auto", 7, 1, True),
        ("0:1", 7, 1, True),
        ("3:2:1", 7, 1, True),
        ("\u0663:2", 7, 1, True),
    ],
)
def test_the_shape_asked_for(ratio: str, width: int, height: int, passes: bool) -> None:
    wrong = [] if passes else [("image_size", "/images/0")]
    assert found(image(width, height), ratio=ratio) == wrong


@pytest.mark.parametrize(
    ("size", "width", "height", "passes"),
    [
        ("1024x1024", 1024, 1024, True),
        ("1024x1024", 1024, 1023, False),
        ("1536x1024", 1024, 1536, False),
        ("auto", 7, 1, True),
    ],
)
def test_the_size_asked_for(size: str, width: int, height: int, passes: bool) -> None:
    wrong = [] if passes else [("image_size", "/images/0")]
    assert found(image(width, height), size=size) == wrong


def test_each_image_is_judged_and_pointed_at() -> None:
    images = (SQUARE, NO_IMAGE, image(2, 1, "image/gif"), SQUARE)
    assert found(*images, expected=3, ratio="1:1", size="1024x1024", fewer=True) == [
        ("image_count", "/images"),
        ("image_header", "/images/1"),
        ("image_type", "/images/2"),
        ("image_size", "/images/2"),
        ("image_size", "/images/2"),
    ]


def test_no_more_is_said_than_anybody_reads() -> None:
    assert len(found(*[NO_IMAGE] * 1000)) == MAX_REASONS


WORDS = st.none() | st.sampled_from(["1:1", "3:2", "8x8", "auto", "image/png", ""]) | st.text()
SIDES = st.integers(1, 2**31 - 1) | st.integers(1, 9)


@given(
    images=st.lists(
        st.builds(Delivered, WORDS, st.sampled_from(["image/png", "image/webp"]), SIDES, SIDES)
        | st.builds(Delivered, WORDS, st.none(), st.just(0), st.just(0)),
        max_size=4,
    ),
    expected=st.integers(0, 4),
    ratio=WORDS,
    size=WORDS,
    fewer=st.booleans(),
)
@settings(max_examples=200, deadline=None, suppress_health_check=ANY_MACHINE)
def test_any_images(
    images: list[Delivered], expected: int, ratio: str | None, size: str | None, fewer: bool
) -> None:
    wrong = problems(images, expected, ratio, size, fewer)
    assert {code for code, _, _ in wrong} <= CODES
    places = {"/images", *(f"/images/{index}" for index in range(len(images)))}
    assert {pointer for _, pointer, _ in wrong} <= places
    if not wrong:
        assert 0 < len(images) <= expected
        assert all(each.kind for each in images)


@pytest.mark.parametrize("declared", ["text/secret", "image/secret;secret=1"])
def test_nothing_said_is_repeated(declared: str) -> None:
    ((_, _, message),) = problems([image(1, 1, declared)], 1, None, None, False)
    assert "secret" not in message
