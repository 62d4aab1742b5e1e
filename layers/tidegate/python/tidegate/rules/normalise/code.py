"""Normalisation `code` and `code-structure`: the input of a task `code` for its two keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tidegate.rules.normalise.form import digest, form
from tidegate.rules.normalise.languages import grammar_of
from tidegate.rules.normalise.names import local_names, words
from tidegate.rules.normalise.structure import Structure
from tidegate.rules.normalise.syntax import Source, read
from tidegate.rules.normalise.text import text


def coded(value: Any, *, ignore_comments: bool) -> Any:
    """Return an input with its code in the form without layout; code that is not read, as text."""
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        return value
    source = _source(value)
    tokens = None if source is None else form(source, ignore_comments=ignore_comments)
    if source is None or tokens is None:
        return {**value, "code": _unread(value["code"])}
    # A list, which no text is.
    return {**value, "code": ["code", source.grammar, digest(tokens)]}


def _unread(code: str) -> str:
    """Return code that was not read as text, but with the first line's indent, which may count."""
    before = code[: len(code) - len(code.lstrip())]
    return re.split(r"[\r\n]", before)[-1] + text(code)


def structured(value: dict[str, Any], *, ignore_comments: bool) -> Structure | None:
    """Return an input under canonical names, or None: see the package."""
    source = _source(value)
    if source is None:
        return None
    # What the instruction calls by name has to keep it.
    said = {word for each in _strings(value, but="code") for word in words(each)}
    found = local_names(source, ignore_comments=ignore_comments)
    names = tuple(name for name in found if name not in said)
    if not names:
        return None
    places = {at: index for index, name in enumerate(names) for at in found[name]}
    tokens = form(source, ignore_comments=ignore_comments, places=places)
    if tokens is None:
        return None
    code = ["code-structure", source.grammar, digest(tokens)]
    return Structure({**value, "code": code}, names)


def _source(value: dict[str, Any]) -> Source | None:
    code, language = value.get("code"), value.get("language")
    if not isinstance(code, str) or not isinstance(language, str):
        return None
    grammar = grammar_of(language)
    return None if grammar is None else read(code, grammar)


def _strings(value: Any, but: str | None = None) -> Iterator[str]:
    """Yield every string within a JSON value, but for one member."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            if name != but:
                yield name
                yield from _strings(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
