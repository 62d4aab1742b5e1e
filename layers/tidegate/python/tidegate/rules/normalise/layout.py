"""What of a text's lines means something, by the rules of each language.

The parsers are lenient: they read an `x =` whose value is on the next line, or a dedent to no
known level, as if it were well. Texts that differ in that must not meet.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tidegate.rules.normalise.languages import each

if TYPE_CHECKING:
    from tidegate.rules.normalise.syntax import Node, Source

_PYTHON_BLOCKS = frozenset({"module", "block", "decorated_definition"})
_PYTHON_CLAUSES = frozenset(
    {"elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause"}
    | {"case_clause"}
)
_PYTHON_COMPOUND = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "with_statement"}
    | {"match_statement", "function_definition", "class_definition", "decorated_definition"}
)


# Of lines that have more than a comment.
_MIXED = re.compile(rb"^(?: ++\t|\t++ )[ \t]*+[^\s#]", re.MULTILINE)
_TABS = re.compile(rb"^\t+[^\s#]", re.MULTILINE)
_SPACES = re.compile(rb"^ +[^\s#]", re.MULTILINE)


def well_indented(source: Source) -> bool:
    """Return whether every line of a Python text begins where and with what it may.

    A line begins a statement of the innermost block, at that block's indent, or a clause of such a
    statement, unless it is within brackets or after a backslash.
    """
    if _MIXED.search(source.text) or (_TABS.search(source.text) and _SPACES.search(source.text)):
        return False  # how wide a tab is would matter
    if re.search(rb"[^\n\f]\f|\f[^\n\f]|^[ \t]*\\$|\\\s*\Z", source.text, re.MULTILINE):
        return False
    lines = _PythonLines(source)
    return all(lines.take(node, begins) for node, begins in source.walk())


def may_hide_a_comment(text: bytes) -> bool:
    """Return whether a browser may take part of a JavaScript text for an HTML comment."""
    return b"<!--" in text or b"-->" in text


class _PythonLines:
    def __init__(self, source: Source) -> None:
        self._text = source.text
        self._indents: list[bytes | None] = []
        self._depth = 0
        self._starting: Node | None = None
        self._last = b":"
        self._continued = -1
        self._at = 0

    def take(self, node: Node, begins: bool) -> bool:
        if not begins:
            if node.kind in {"module", "block"}:
                self._indents.pop()
            return True
        if node.kind == "comment":
            return True
        if node.kind == "line_continuation":
            self._continued = node.end
            return True
        if node.named and (
            node.kind in _PYTHON_CLAUSES
            or (node.parent is not None and node.parent.kind in _PYTHON_BLOCKS)
        ):
            self._starting = node
        if node.children:
            if node.kind in {"module", "block"}:
                self._indents.append(b"" if node.kind == "module" else None)
            return True
        return self._leaf(node)

    def _leaf(self, node: Node) -> bool:
        if node.kind in {"module", "block"}:
            return node.kind == "module"  # an empty block is no Python
        if node.start == node.end:
            return True
        # Searched from the last leaf on, or a line of many would be gone through for each.
        begun = self._text.rfind(b"\n", self._at, node.start) + 1
        line = self._text[begun : node.start] if begun or not self._at else b"-"
        self._at = node.start
        first = not line.strip(b" \t\f")
        text = self._text[node.start : node.end]
        well = True
        # A backslash joins one line to the next, not to the one after.
        joined = self._continued >= 0 and b"\n" not in self._text[self._continued : node.start]
        if self._depth == 0 and not joined:
            well = self._begins(line.strip(b"\f")) if first else self._goes_on()
        if text in {b"(", b"[", b"{"}:
            self._depth += 1
        elif text in {b")", b"]", b"}"}:
            self._depth -= 1
        self._starting = None
        self._continued = -1
        self._last = text
        return well

    def _begins(self, indent: bytes) -> bool:
        if self._starting is None:
            return False
        if self._indents[-1] is None:
            outer = next(known for known in reversed(self._indents[:-1]) if known is not None)
            if len(indent) <= len(outer):
                return False
            self._indents[-1] = indent
        return self._indents[-1] == indent

    def _goes_on(self) -> bool:
        """Return whether what stands here may stand within a line."""
        if self._starting is None:
            return True
        return self._last in {b";", b":"} and self._starting.kind not in _PYTHON_COMPOUND


# After these a line may end or not, and it is all one.
_UNFINISHED = each(
    "else do try finally case const var new typeof void delete instanceof in extends if while for "
    "switch catch import export function class default"
)
# Before these too: what stands before them cannot be a statement by itself.
_GOES_ON = each(
    ". ?. ) ] } , ; : ? { ( && || ?? = == === != !== > >= <= % & | ^ >> >>> += -= *= /= %= **= <<= "
    ">>= >>>= &= |= ^= &&= ||= ??="
)
# Words after which a line's end is, or may be, the statement's, whatever follows; and tokens that
# may belong to the line before or not.
_RESTRICTING = each(
    "return throw break continue yield async await let get set static accessor using type abstract "
    "declare namespace module interface global readonly asserts is as satisfies keyof infer of"
)
_RESTRICTED = frozenset(["++", "--", "=>", "!", "[", "<", "`", "*", "#"])

_GO_ENDS = each("break continue fallthrough return ++ -- ) ] }")
_GO_NEVER_ENDS = each(
    "case chan const default defer else for func go goto if import interface map package range "
    "select struct switch type var"
)
_GO_OPTIONAL = frozenset(
    {"block", "field_declaration_list", "interface_type", "import_spec_list", "const_declaration"}
    | {"var_declaration", "var_spec_list", "type_declaration", "expression_switch_statement"}
    | {"type_switch_statement", "select_statement", "source_file", "statement_list"}
)


def break_matters(before: str, after: str) -> bool:
    """Return whether JavaScript may read two tokens otherwise if a line ends between them."""
    if after in _RESTRICTED or before in _RESTRICTING:
        return True
    return _wordy(before) and before not in _UNFINISHED and after not in _GOES_ON


def ends_statement(before: str) -> bool:
    """Return whether Go puts a semicolon where a line ends after this token."""
    if before in _GO_ENDS or before[-1:] in {'"', "`", "'"}:
        return True
    return _wordy(before) and before not in _GO_NEVER_ENDS


def semicolon_optional(closing: Node) -> bool:
    """Return whether a semicolon before this token may be left out in Go."""
    return closing.parent is not None and closing.parent.kind in _GO_OPTIONAL


def _wordy(token: str) -> bool:
    """Return whether a token is a word or a number (which may end in a point)."""
    last = token[-1:]
    return last.isalnum() or last in {"_", "$"} or last > "\x7f" or token[:1].isdigit()
