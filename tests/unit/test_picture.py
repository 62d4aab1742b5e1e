"""What an image file says of itself, and that no bytes can make its reader fall."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties import ANY_MACHINE
from tests.unit.picture_damage import DAMAGED
from tests.unit.picture_files import (
    JFIF,
    SOI,
    frame,
    gif,
    jpeg,
    png,
    segment,
    svg,
    webp_extended,
    webp_lossless,
    webp_lossy,
)
from tidegate.rules.picture import MAX_SEGMENTS, Picture, read
from tidegate.rules.svg import MAX_HEAD

KINDS: dict[str, Callable[[int, int], bytes]] = {
    "image/png": png,
    "image/jpeg": jpeg,
    "image/gif": gif,
    "image/webp": webp_lossy,
    "image/svg+xml": lambda width, height: svg(f"width='{width}' height='{height}px'"),
}
WEBPS: dict[str, Callable[[int, int], bytes]] = {
    "lossy": webp_lossy,
    "lossless": webp_lossless,
    "extended": webp_extended,
}

# As libwebp made them of one colour.
LOSSY = b64decode(
    "UklGRjIAAABXRUJQVlA4ICYAAACQAQCdASoDAAIAB0CWJaACdLoAA5gA/uHDfqIiCklh68p8StAAAA=="
)
LOSSLESS = b64decode("UklGRh4AAABXRUJQVlA4TBEAAAAvAkAAAAfQsSYUuf+BiOh/AAA=")


@pytest.mark.parametrize("kind", KINDS)
@given(width=st.integers(1, 16_383), height=st.integers(1, 16_383))
@settings(max_examples=25, deadline=None, suppress_health_check=ANY_MACHINE)
def test_kind_and_size_are_read_from_the_bytes(kind: str, width: int, height: int) -> None:
    content = KINDS[kind](width, height)
    assert read(content) == Picture(kind, width, height)
    assert read(content + b"whatever follows") == Picture(kind, width, height)


@pytest.mark.parametrize("variant", WEBPS)
@pytest.mark.parametrize(("width", "height"), [(1, 1), (1024, 768), (16_383, 16_383)])
def test_all_three_forms_of_webp(variant: str, width: int, height: int) -> None:
    assert read(WEBPS[variant](width, height)) == Picture("image/webp", width, height)


@pytest.mark.parametrize(
    ("content", "width", "height"),
    [
        (png(2**31 - 1, 1), 2**31 - 1, 1),
        (png(3, 2, depth=16, colour=6, methods=(0, 0, 1)), 3, 2),
        (jpeg(65_535, 65_535), 65_535, 65_535),
        (gif(65_535, 65_535), 65_535, 65_535),
        (gif(4, 3, version=b"87a"), 4, 3),
        (webp_lossless(16_384, 16_384), 16_384, 16_384),
        (webp_extended(2**24, 255), 2**24, 255),
        (LOSSY, 3, 2),
        (LOSSLESS, 3, 2),
    ],
    ids=[
        "png side",
        "png rgba",
        "jpeg",
        "gif",
        "gif87a",
        "vp8l",
        "vp8x",
        "encoded vp8",
        "encoded vp8l",
    ],
)
def test_the_largest_and_the_odd(content: bytes, width: int, height: int) -> None:
    found = read(content)
    assert found is not None
    assert (found.width, found.height) == (width, height)


@pytest.mark.parametrize(
    "before",
    [
        b"",
        JFIF + segment(0xE1, b"Exif\0\0" + b"\xff\xc0\0\x11\x08\0\1\0\1" * 9),
        b"\xff\xff\xff" + JFIF,
        b"\xff" * 999 + segment(0xFE, b"a comment"),
        b"\xff\xd0\xff\xd7\xff\x01" + JFIF,
        segment(0xE2, bytes(65_533)) * 20,
        segment(0xC4, bytes(17)) + segment(0xCC, b"\0\0") + segment(0xDD, b"\0\1"),
    ],
    ids=["none", "a frame in EXIF", "fill", "much fill", "restarts", "profile", "no frames"],
)
@pytest.mark.parametrize("code", [0xC0, 0xC2, 0xC9])
def test_a_jpegs_frame_is_found_behind_anything(before: bytes, code: int) -> None:
    assert read(jpeg(5, 7, before=before, code=code)) == Picture("image/jpeg", 5, 7)


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_what_does_not_decode(content: bytes) -> None:
    assert read(content) is None


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None, suppress_health_check=ANY_MACHINE)
def test_any_bytes(content: bytes) -> None:
    _sane(read(content))


WHOLE = {
    **{kind: make(640, 480) for kind, make in {**KINDS, **WEBPS}.items()},
    "svg": svg("width='640' height='480' viewBox='0 0 4 3'", "<?xml version='1.0'?><!-- drawn -->"),
}


@given(
    content=st.sampled_from(list(WHOLE.values())),
    at=st.integers(0, 120),
    removed=st.integers(0, 12),
    put=st.binary(max_size=12),
    end=st.integers(0, 400),
)
@settings(max_examples=400, deadline=None, suppress_health_check=ANY_MACHINE)
def test_any_damage(content: bytes, at: int, removed: int, put: bytes, end: int) -> None:
    _sane(read((content[:at] + put + content[at + removed :])[:end]))


@pytest.mark.parametrize("content", WHOLE.values(), ids=WHOLE)
def test_cut_anywhere_it_is_the_same_picture_or_none(content: bytes) -> None:
    whole = read(content)
    found = [read(content[:end]) for end in range(len(content))]
    needed = found.index(whole)
    assert not any(found[:needed])
    assert found[needed:] == [whole] * (len(content) - needed)


@pytest.mark.parametrize(
    "content",
    [
        SOI + b"\xff" * 20_000_000,
        SOI + b"\xff\xd0" * 10_000_000,
        SOI + b"\xff\xe0\0\2" * 5_000_000,
        b"<svg" + b" " * 20_000_000,
        b"<svg" + b" a='" * 5_000_000,
        b"<!--" * 16_000 + b"<svg",
        b"<!---->" * 9_000 + b"<svg",
        b"<?xml version" + b" " * (MAX_HEAD - 20) + b"<svg",
        b"<svg" + b"".join(b" a%d=''" % n for n in range(9_000)),
        svg("viewBox='" + " ," * 30_000 + "'"),
        svg("width='" + "1" * 60_000 + "'"),
    ],
    ids=["fill", "restarts", "segments", "blanks", "open values", "open comments", "comments",
         "declaration", "attributes", "view box", "digits"],
)  # fmt: skip
def test_no_file_is_costly(content: bytes) -> None:
    begun = time.process_time()
    assert read(content) is None
    # CPU seconds of this process. Linear work takes a hundredth of it, quadratic work minutes.
    assert time.process_time() - begun < 3


def test_a_jpegs_frame_is_looked_for_only_so_far() -> None:
    empty = segment(0xE0, b"")
    assert read(SOI + empty * (MAX_SEGMENTS - 1) + frame(1, 1)) is not None
    assert read(SOI + empty * MAX_SEGMENTS + frame(1, 1)) is None


def _sane(found: Picture | None) -> None:
    if found is not None:
        assert found.kind in KINDS
        assert 0 < found.width < 2**31
        assert 0 < found.height < 2**31
