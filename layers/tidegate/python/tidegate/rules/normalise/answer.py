"""A model's answer in somebody else's names of variables, where that is certain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidegate.rules.normalise.bounds import Bounded
from tidegate.rules.normalise.form import digest, form
from tidegate.rules.normalise.languages import grammar_of
from tidegate.rules.normalise.names import local_names, words
from tidegate.rules.normalise.syntax import Source, read, ready

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+([^\s`]*+)[ \t]*+")

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def renamed(
    output: dict[str, Any],
    language: str,
    theirs: Sequence[str],
    ours: Sequence[str],
    bounded: Bounded,
) -> dict[str, Any] | None:
    """Return an answer in other names, or None: see the package."""
    text, grammar = output.get("text"), grammar_of(language)
    if len(theirs) != len(ours) or not isinstance(text, str) or grammar is None:
        return None
    ready(grammar)
    changed = bounded(in_other_names, text, grammar, tuple(theirs), tuple(ours))
    return None if changed is None else {**output, "text": changed}


def in_other_names(
    text: str, grammar: str, theirs: tuple[str, ...], ours: tuple[str, ...]
) -> str | None:
    """Return an answer's text in other names, or None."""
    changes = {their: our for their, our in zip(theirs, ours, strict=True) if their != our}
    if len(set(theirs)) < len(theirs) or len(set(ours)) < len(ours):
        return None
    parts = _parts(text, grammar)
    if parts is None:
        return None
    done = []
    for part, is_code in parts:
        if is_code:
            changed = _changed(part, grammar, changes)
            if changed is None:
                return None
            done.append(changed)
        elif words(part).isdisjoint({*changes, *changes.values()}):
            done.append(part)
        else:
            return None
    return "".join(done)


def _parts(text: str, grammar: str) -> list[tuple[str, bool]] | None:
    """Return an answer's prose and code in order; all is code if nothing is fenced.

    None if a fence is unclosed, of another language, or not plainly a fence.
    """
    parts: list[tuple[str, bool]] = []
    held: list[str] = []
    fence = ""
    fenced = False
    for line in _LINE.findall(text):
        mark = _FENCE.fullmatch(line.rstrip("\r\n"))
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2]:
                parts += [("".join(held), True), (line, False)]
                held, fence = [], ""
            else:
                held.append(line)
        elif mark:
            if mark[2] and grammar_of(mark[2]) != grammar:
                return None
            parts += [("".join(held), False), (line, False)]
            held, fence, fenced = [], mark[1], True
        else:
            held.append(line)
    if fence:
        return None
    parts.append(("".join(held), not fenced))
    if any("```" in part or "~~~" in part for part in _unmarked(parts)):
        return None
    return parts


def _unmarked(parts: list[tuple[str, bool]]) -> Iterator[str]:
    """Yield what is not a fence's own line."""
    for part, is_code in parts:
        if is_code or not _FENCE.fullmatch(part.rstrip("\r\n")):
            yield part


def _changed(code: str, grammar: str, changes: Mapping[str, str]) -> str | None:
    """Return code with its local variables' names changed, or None."""
    source = read(code, grammar)
    if source is None or "\r" in code:
        return None
    found = local_names(source, ignore_comments=False)
    present = words(code)
    if any(their in present and their not in found for their in changes):
        return None
    if any(our in present and our not in changes for our in changes.values()):
        return None
    places = sorted((at, name) for name in changes if name in found for at in found[name])
    pieces, end = [], 0
    for at, name in places:
        pieces += [source.text[end:at].decode(), changes[name]]
        end = at + len(name.encode())
    result = "".join(pieces) + source.text[end:].decode()
    return result if _same(source, found, read(result, grammar), changes) else None


def _same(
    before: Source, found: dict[str, list[int]], after: Source | None, changes: Mapping[str, str]
) -> bool:
    """Return whether two texts are one under canonical names, and these are the changed ones."""
    if after is None:
        return False
    again = local_names(after, ignore_comments=False)
    if list(again) != [changes.get(name, name) for name in found]:
        return False
    return _structure(before, found) == _structure(after, again) is not None


def _structure(source: Source, found: dict[str, list[int]]) -> str | None:
    places = {at: index for index, name in enumerate(found) for at in found[name]}
    tokens = form(source, ignore_comments=False, places=places)
    return None if tokens is None else digest(tokens)
