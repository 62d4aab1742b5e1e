"""Normalisation `code` and `code-structure`: the input of a task `code` for its two keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tidegate.rules.normalise.bounds import Bounded
from tidegate.rules.normalise.form import digest, form
from tidegate.rules.normalise.languages import grammar_of
from tidegate.rules.normalise.names import local_names, words
from tidegate.rules.normalise.structure import Structure
from tidegate.rules.normalise.syntax import read, ready
from tidegate.rules.normalise.text import text


def coded(value: Any, how: str, *, ignore_comments: bool, bounded: Bounded) -> Any:
    """Return an input with its code in the form without layout; code that is not read, as text."""
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        return value
    code, grammar = value["code"], _grammar(value)
    plain = None
    if grammar is not None and how == "code":
        plain = bounded(plain_form, code, grammar, ignore_comments)
    elif grammar is not None:
        found = bounded(both_forms, code, grammar, ignore_comments, _said(value))
        plain = None if found is None else found[0]
    # A list, which no text is.
    return {**value, "code": _unread(code) if plain is None else ["code", grammar, plain]}


def _unread(code: str) -> str:
    """Return code that was not read as text, but with the first line's indent, which may count."""
    before = code[: len(code) - len(code.lstrip())]
    return re.split(r"[\r\n]", before)[-1] + text(code)


def structured(
    value: dict[str, Any], *, ignore_comments: bool, bounded: Bounded
) -> Structure | None:
    """Return an input under canonical names, or None: see the package."""
    code, grammar = value.get("code"), _grammar(value)
    if not isinstance(code, str) or grammar is None:
        return None
    found = bounded(both_forms, code, grammar, ignore_comments, _said(value))
    if found is None or found[1] is None:
        return None
    _plain, canonical, names = found
    return Structure({**value, "code": ["code-structure", grammar, canonical]}, tuple(names))


def plain_form(code: str, grammar: str, ignore_comments: bool) -> str | None:
    """Return the digest of a text's form, or None if it cannot be read."""
    source = read(code, grammar)
    tokens = None if source is None else form(source, ignore_comments=ignore_comments)
    return None if tokens is None else digest(tokens)


def both_forms(
    code: str, grammar: str, ignore_comments: bool, said: frozenset[str]
) -> tuple[str, str | None, list[str]] | None:
    """Return the digests of a text's forms, plain and under canonical names, and these names.

    None: it cannot be read. No second form: it has no name that may be changed. `said` are words
    that may be none.
    """
    source = read(code, grammar)
    tokens = None if source is None else form(source, ignore_comments=ignore_comments)
    if source is None or tokens is None:
        return None
    found = local_names(source, ignore_comments=ignore_comments)
    names = [name for name in found if name not in said]
    canonical = None
    if names:
        places = {at: index for index, name in enumerate(names) for at in found[name]}
        renamed = form(source, ignore_comments=ignore_comments, places=places)
        canonical = None if renamed is None else digest(renamed)
    return digest(tokens), canonical, names


def _grammar(value: dict[str, Any]) -> str | None:
    """Return the grammar for an input's code, loaded; None if there is none."""
    language = value.get("language")
    grammar = grammar_of(language) if isinstance(language, str) else None
    if grammar is not None:
        ready(grammar)
    return grammar


def _said(value: dict[str, Any]) -> frozenset[str]:
    """Return what the instruction may call by name, and so has to keep it."""
    return frozenset(word for each in _strings(value, but="code") for word in words(each))


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
