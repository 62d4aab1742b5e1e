"""Source text as a tree of nodes, or nothing: an error anywhere means that it was not read."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidegate.rules.normalise.languages import GRAMMARS

if TYPE_CHECKING:
    from tree_sitter import Language, Tree, TreeCursor

MAX_BYTES = 100_000
MAX_NODES = 10_000
MAX_DEPTH = 1_000
"""Past these a text is not read, whoever asks and however fast: 10,000 nodes are some 1,200 lines,
and take about 100 ms for both names of a text. All that is slower than its size says is left to
the sandbox."""

MAX_PARSED_BYTES = 400_000
"""Past this it is not even said whether it parses; without our own nodes that takes far less."""

_BLANK = b" \t\n\f"


class Node:
    """A node: kind, name of its field in the parent, first byte and the one after its last."""

    __slots__ = ("children", "depth", "end", "field", "kind", "named", "parent", "start")

    def __init__(
        self, kind: str, field: str, span: tuple[int, int], named: bool, parent: Node | None
    ) -> None:
        self.kind = kind
        self.field = field
        self.start, self.end = span
        self.named = named
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.children: list[Node] = []

    def child(self, field: str) -> Node | None:
        """Return the first child in a field."""
        return next((each for each in self.children if each.field == field), None)


class Source:
    """A text that was read without an error. Line ends are LF; bytes are UTF-8."""

    __slots__ = ("grammar", "root", "text")

    def __init__(self, grammar: str, text: bytes, root: Node) -> None:
        self.grammar = grammar
        self.text = text
        self.root = root

    def of(self, node: Node) -> str:
        """Return a node's text."""
        return self.text[node.start : node.end].decode()

    def walk(self) -> Iterator[tuple[Node, bool]]:
        """Yield each node when it begins, and those with children again, False, at their end."""
        stack = [(self.root, True)]
        while stack:
            node, begins = stack.pop()
            yield node, begins
            if begins and node.children:
                stack.append((node, False))
                stack.extend((child, True) for child in reversed(node.children))


def read(code: str, grammar: str) -> Source | None:
    """Return the tree of a text, or None if it has an error, is too large or too deep.

    A node that is one piece of text (a literal, or whatever has text that none of its children
    holds) has no children.
    """
    text = _bytes(code)
    if text is None or len(text) > MAX_BYTES:
        return None
    tree = _tree(text, grammar)
    if tree.root_node.has_error:
        return None
    root = _nodes(tree.walk(), text, grammar)
    return None if root is None else Source(grammar, text, root)


def parses(code: str, grammar: str) -> bool | None:
    """Return whether a text is without an error of syntax; None: it is too much to be read."""
    text = _bytes(code)
    if text is None or len(text) > MAX_PARSED_BYTES:
        return None
    return not _tree(text, grammar).root_node.has_error


def ready(grammar: str) -> None:
    """Load a grammar: once here, or every child that reads with it would."""
    _language(grammar)


def _bytes(code: str) -> bytes | None:
    """Return a text as the parser takes it, or None."""
    # Every one of these languages takes CRLF for LF, in literals too. A lone CR they do not agree
    # on, and NUL ends the text for the parser.
    code = code.replace("\r\n", "\n")
    if "\r" in code or "\0" in code:
        return None
    try:
        return code.encode()
    except UnicodeEncodeError:
        return None


def _tree(text: bytes, grammar: str) -> Tree:
    """Return the parser's tree of a text, errors and all."""
    from tree_sitter import Parser  # here, as only code pays for it

    # The whole text at once: of what a callback hands out, binding 0.26.1 frees nothing, and asks
    # anew for all the rest wherever the parser looks back.
    return Parser(_language(grammar)).parse(text)


@functools.cache
def _language(grammar: str) -> Language:
    from tree_sitter import Language

    known = GRAMMARS[grammar]
    return Language(getattr(importlib.import_module(known.module), known.function)())


def _nodes(cursor: TreeCursor, text: bytes, grammar: str) -> Node | None:
    """Return our own nodes: the parser's are made anew at each look and know no parent cheaply."""
    literals = GRAMMARS[grammar].literals
    parent: Node | None = None
    count = 0
    while True:
        raw = cursor.node
        if raw is None or raw.is_missing:
            return None
        field = cursor.field_name or ""
        node = Node(raw.type, field, (raw.start_byte, raw.end_byte), raw.is_named, parent)
        count += 1
        if count > MAX_NODES or node.depth > MAX_DEPTH:
            return None
        if parent is None:
            # Whatever stands outside the root (a byte order mark) is part of it.
            node.start, node.end = 0, len(text)
        else:
            parent.children.append(node)
        if node.kind not in literals and cursor.goto_first_child():
            parent = node
            continue
        while not cursor.goto_next_sibling():
            if parent is None or not cursor.goto_parent():
                root = node if parent is None else parent
                _keep_gaps(root, text)
                return root
            _keep_gaps(parent, text)
            if parent.parent is None:
                return parent
            parent = parent.parent


def _keep_gaps(node: Node, text: bytes) -> None:
    """Make a node one piece of text if there is text between its children."""
    at = node.start
    for child in node.children:
        if child.start > at and text[at : child.start].strip(_BLANK):
            node.children = []
            return
        at = max(at, child.end)
    if node.children and node.end > at and text[at : node.end].strip(_BLANK):
        node.children = []
