"""From a model's text to the one thing it must be: a JSON value, or code. The only such reader.

Fences are Markdown's (CommonMark 0.31, section 4.5): a line of three or more backticks or tildes
opens one, and only a line of as many or more of the same closes it.
"""

from __future__ import annotations

import re
from typing import Any

from tidegate.rules.strict_json import NotStrictJson, loads

_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*+([\w+#.-]*+)[ \t]*+\r?")
_ANY_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
_JSON_WORDS = frozenset({"", "json"})

TWO = "there is more than one candidate for the answer; which was meant is a guess"


def json_value(text: str, *, fenced: bool) -> Any:
    """Return the strict JSON value that `text` is.

    Args:
        text: the model's whole answer.
        fenced: whether one Markdown fence around the whole answer is accepted as well. A fence
            with words beside it, or one of several, is not: which one was meant is a guess.

    Raises:
        NotStrictJson: it is not one strict JSON value; says why without quoting the text.
    """
    inside = _unfenced(text, _JSON_WORDS) if fenced else None
    if inside is not None:
        return loads(inside)
    try:
        return loads(text)
    except NotStrictJson as error:
        raise _told(text, error) from None


def code(text: str, *, fenced: bool) -> str:
    """Return the code that `text` is; where `fenced`, what is in the one fence around it.

    Raises:
        NotStrictJson: there is a fence that is not around the whole of it, or is one of several.
    """
    inside = _unfenced(text, None) if fenced else None
    if inside is None and fenced and _ANY_FENCE.search(text):
        raise NotStrictJson("there are words beside the fence", "fence")
    return text if inside is None else inside


def _unfenced(text: str, words: frozenset[str] | None) -> str | None:
    """Return what is inside the fence around a text; None if no fence of these words begins it."""
    first, _, rest = text.strip().partition("\n")
    opening = _OPENING.fullmatch(first)
    if opening is None or (words is not None and opening[2].lower() not in words):
        return None
    mark = re.escape(opening[1][0])
    closing = re.compile(rf"^[ \t]*{mark}{{{len(opening[1])},}}[ \t]*\r?$", re.MULTILINE)
    end = closing.search(rest)
    if end is None:
        raise NotStrictJson("the fence around the answer does not end", "fence")
    beside = rest[end.end() :]
    if _ANY_FENCE.search(beside) or _is_json(beside):
        raise NotStrictJson(TWO, "two_candidates")
    if beside.strip():
        raise NotStrictJson("there are words after the fence", "fence")
    return rest[: end.start()].removesuffix("\n").removesuffix("\r")


def _told(text: str, error: NotStrictJson) -> NotStrictJson:
    """Return what is wrong with a text that is not JSON, as exactly as can be told."""
    if error.code == "trailing_text" and _is_json(text[error.at :]):
        return NotStrictJson(TWO, "two_candidates")
    if error.code == "invalid_json" and _ANY_FENCE.search(text):
        return NotStrictJson("there is a fence where none is accepted, or words beside it", "fence")
    return error


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except NotStrictJson:
        return False
    return True
