"""What partners are given of an answer that failed and was accepted by an operator all the same."""

from __future__ import annotations

from typing import Any

from tidegate.gate import written
from tidegate.gate.structured import Unfit, read, shown
from tidegate.rules.answer import Expected, Given
from tidegate.rules.catalogue import Entry

_ANY_LENGTH = {"max_characters": None}


def output(entry: Entry, given: Given, expected: Expected) -> dict[str, Any] | None:
    """Return an answer in the form partners know, without asking whether it is right.

    None: it has no such form. What should be JSON must be one strict value, and what is stored
    must be text, whoever accepts it.
    """
    if entry.task == "image":
        return {} if given.images and all(each.kind for each in given.images) else None
    checks = entry.answer.model_copy(update=_ANY_LENGTH)
    text = given.text or ""
    if written.problem(text, checks) is not None:
        return None
    if entry.contract is None and expected.response_schema is None:
        return {"text": text}
    try:
        return shown(entry, read(text, fenced=True))
    except Unfit:
        return None
