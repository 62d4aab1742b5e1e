"""The canonical form of a text that was read: its tree and tokens, without what is only layout."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidegate.rules.normalise.comments import directive, whole_file
from tidegate.rules.normalise.languages import GRAMMARS
from tidegate.rules.normalise.layout import (
    break_matters,
    ends_statement,
    may_hide_a_comment,
    semicolon_optional,
    well_indented,
)

if TYPE_CHECKING:
    from tidegate.rules.normalise.syntax import Node, Source

_BLANK = b" \t\n\f"
_LINE_END = re.compile(rb"\n|\xe2\x80[\xa8\xa9]")

Form = list[str | int]
"""A flat list, as nesting is the input's to choose. Each entry's first character tells what it is
and how many follow, so that no two trees have one form."""


def digest(form: Form) -> str:
    """Return the SHA-256 (hex) of a form."""
    return hashlib.sha256(json.dumps(form).encode()).hexdigest()


def form(
    source: Source, *, ignore_comments: bool, places: Mapping[int, int] | None = None
) -> Form | None:
    """Return the form of a text, or None where its lines are not in order.

    `places`: index of the local variable at a first byte, for the form without their names.
    """
    lines = GRAMMARS[source.grammar].lines
    if lines == "indented" and not well_indented(source):
        return None
    if lines == "restricted" and may_hide_a_comment(source.text):
        return None
    writer = _Writer(source, ignore_comments, places or {})
    for node, begins in source.walk():
        writer.take(node, begins)
    return writer.form


class _Writer:
    def __init__(self, source: Source, ignore_comments: bool, places: Mapping[int, int]) -> None:
        self.form: Form = []
        self._source = source
        self._places = places
        self._comments = GRAMMARS[source.grammar].comments
        self._lines = GRAMMARS[source.grammar].lines
        self._all = not ignore_comments
        self._tied = whole_file(source.text.decode(), source.grammar)
        self._last = ""
        self._end = 0
        self._semicolon = False

    def take(self, node: Node, begins: bool) -> None:
        if not begins:
            self.form.append(")")
        elif node.kind in self._comments:
            self._comment(node)
        elif node.children:
            self.form.append(f"({node.field}:{node.kind}")
        elif node.kind != "line_continuation":
            text = self._source.of(node)
            if self._lines == "terminated":
                self._terminated(node, text)
            else:
                if self._lines == "restricted" and self._line_ended(node):
                    self._broken(text)
                self._leaf(node, text)

    def _leaf(self, node: Node, text: str) -> None:
        self._last, self._end = text, node.end
        place = self._places.get(node.start) if node.end > node.start else None
        if place is None:
            self.form += (f".{node.field}:{node.kind}", text)
        else:
            self.form += (f"${node.field}:{node.kind}", place)

    def _broken(self, text: str) -> None:
        if break_matters(self._last, text):
            self.form.append("~")

    def _terminated(self, node: Node, text: str) -> None:
        """Take a leaf of Go, by its own rule of where a line ends a statement."""
        if node.start == node.end or text == "\n":
            return
        self._semicolon |= self._line_ended(node) and ends_statement(self._last)
        if self._semicolon and not (text in {")", "}"} and semicolon_optional(node)):
            self.form.append(";")
        self._semicolon = text == ";"
        if self._semicolon:
            self._last, self._end = text, node.end
        else:
            self._leaf(node, text)

    def _line_ended(self, node: Node) -> bool:
        """Return whether a line ends between the last token and this one, in a comment or not."""
        between = self._source.text[self._end : node.start]
        return bool(self._last) and _LINE_END.search(between) is not None

    def _comment(self, node: Node) -> None:
        text = self._source.of(node)
        strict = self._tied or directive(text)
        if not (strict or self._all):
            return
        # What a directive is about depends on the lines around it: its own, the next, or a blank.
        most = 2 if strict else 1
        code, above, below = self._source.text, node.start, node.end
        while above > 0 and code[above - 1] in _BLANK:
            above -= 1
        while below < len(code) and code[below] in _BLANK:
            below += 1
        lines = (code.count(b"\n", above, node.start), code.count(b"\n", node.end, below))
        self.form += (f"#{min(lines[0], most)}{min(lines[1], most)}", text.rstrip())
