"""An answer as the gate sees it, and what of its request it is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate.rules.picture import Delivered


@dataclass(frozen=True, slots=True)
class Given:
    """What a vendor gave."""

    text: str | None = field(repr=False)
    """What the model wrote, if it writes."""
    images: tuple[Delivered, ...] = ()
    truncated: bool = False
    """Whether the vendor says it stopped at a limit."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What was asked for, as far as an answer can show that it is not what came."""

    images: int = 0
    aspect_ratio: str | None = None
    """Such as `3:2`."""
    size: str | None = None
    """Such as `1024x1024`."""
    language: str | None = None
    """Of the code that was asked about."""
    response_schema: dict[str, Any] | None = None
    """The partner's own, besides the entry's contract."""


def expected(task: str, asked: Mapping[str, Any]) -> Expected:
    """Return what an answer to a stored request is held against."""
    if task == "image":
        params = asked["params"]
        return Expected(
            images=params.get("n", 1),
            aspect_ratio=params.get("aspect_ratio"),
            size=params.get("size"),
        )
    language = asked["input"].get("language") if task == "code" else None
    return Expected(language=language, response_schema=asked.get("response_schema"))
