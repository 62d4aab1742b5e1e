"""From a model's text to the one JSON value it must be."""

from __future__ import annotations

import re
from typing import Any

from tidegate.rules.strict_json import NotStrictJson, loads

_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\r?", re.IGNORECASE)


def json_value(text: str, *, fenced: bool) -> Any:
    """Return the strict JSON value that `text` is.

    Args:
        text: the model's whole answer.
        fenced: whether one Markdown fence around the whole answer is accepted as well. A fence
            with words beside it, or one of several, is not: which one was meant is a guess.

    Raises:
        NotStrictJson: it is not one strict JSON value; says why without quoting the text.
    """
    return loads(_unfenced(text) if fenced else text)


def _unfenced(text: str) -> str:
    """Return what is inside the fence, or the text itself if it has none."""
    first, _, rest = text.strip().partition("\n")
    opening = _OPENING.fullmatch(first)
    if opening is None:
        return text
    inside, _, last = rest.rpartition("\n")
    if last.strip() != opening[1]:
        raise NotStrictJson("the fence around the answer does not end with it")
    return inside
