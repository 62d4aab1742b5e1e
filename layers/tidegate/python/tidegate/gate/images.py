"""What is wrong with the images of an answer, by what their headers say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from tidegate.gate.reason import MAX_REASONS
from tidegate.rules.picture import Delivered

ImageCode = Literal["image_count", "image_header", "image_type", "image_size"]
Problem = tuple[ImageCode, str, str]
"""A code, a JSON pointer (RFC 6901) into the answer, a message that quotes nothing of it."""

_ALIASES = {"image/jpg": "image/jpeg"}
_RATIO = re.compile(r"([1-9][0-9]{0,4}):([1-9][0-9]{0,4})")
_SIZE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")


def problems(
    images: Sequence[Delivered],
    expected: int,
    aspect_ratio: str | None,
    size: str | None,
    fewer: bool,
) -> tuple[Problem, ...]:
    """Return what is wrong with the images, at most 20 things; nothing where they may pass.

    Args:
        images: what came.
        expected: how many were asked for.
        aspect_ratio: as `3:2`, or None; held within 2 %, as vendors make sides in steps of pixels.
        size: as `1024x1024` in pixels, or None; held exactly.
        fewer: whether fewer than were asked for may pass; none never does.

    A ratio or size in other words, as `auto`, asks for nothing that could be measured.
    """
    return tuple(islice(_problems(images, expected, aspect_ratio, size, fewer), MAX_REASONS))


def _problems(
    images: Sequence[Delivered],
    expected: int,
    aspect_ratio: str | None,
    size: str | None,
    fewer: bool,
) -> Iterator[Problem]:
    if not images:
        yield "image_count", "/images", "there is no image"
    elif len(images) > expected:
        yield "image_count", "/images", f"there are more images than the {expected} asked for"
    elif len(images) < expected and not fewer:
        yield "image_count", "/images", f"there are fewer images than the {expected} asked for"
    for index, image in enumerate(images):
        pointer = f"/images/{index}"
        if image.kind is None:
            yield "image_header", pointer, "the header is that of no image"
            continue
        said = _media_type(image.declared)
        if said and said != image.kind:
            yield "image_type", pointer, f"the bytes are {image.kind}, and declared as another type"
        if aspect_ratio is not None and not _has_ratio(image, aspect_ratio):
            yield "image_size", pointer, "the image is of another shape than asked for"
        if size is not None and not _has_size(image, size):
            yield "image_size", pointer, "the image is of another size than asked for"


def _media_type(declared: str | None) -> str:
    """Return a content type without its parameters (RFC 9110, 8.3.1: in any case)."""
    said = (declared or "").partition(";")[0].strip().lower()
    return _ALIASES.get(said, said)


def _has_ratio(image: Delivered, asked: str) -> bool:
    match = _RATIO.fullmatch(asked)
    if match is None:
        return True
    # width / height against across / down, in whole numbers: exact at the limit.
    across, down = image.width * int(match[2]), image.height * int(match[1])
    return 50 * abs(across - down) <= down


def _has_size(image: Delivered, asked: str) -> bool:
    match = _SIZE.fullmatch(asked)
    return match is None or (image.width, image.height) == (int(match[1]), int(match[2]))
