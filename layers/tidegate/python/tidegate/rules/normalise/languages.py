"""The languages whose code can be read, and what in each is one piece of text."""

from __future__ import annotations

from dataclasses import dataclass

_NAMES = {
    "python": ("python", "python3", "py", "py3"),
    "javascript": ("javascript", "js", "jsx", "mjs", "cjs", "node", "nodejs", "ecmascript", "es6"),
    "typescript": ("typescript", "ts", "mts", "cts"),
    "tsx": ("tsx",),
    "java": ("java",),
    "go": ("go", "golang"),
}
_GRAMMAR = {alias: grammar for grammar, aliases in _NAMES.items() for alias in aliases}


def each(words: str) -> frozenset[str]:
    """Return the set of the words in a text."""
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the reader knows of one grammar, in the grammar's own names of nodes."""

    module: str
    """The package that has it, and the function in it that returns it."""
    function: str
    literals: frozenset[str]
    """Nodes that stand for their source text, spaces included."""
    comments: frozenset[str]
    lines: str
    """How line breaks count: `indented`, `restricted`, `terminated` or `free`."""


_SCRIPT = frozenset(
    {"string", "template_string", "template_literal_type", "regex", "jsx_element", "jsx_text"}
    | {"jsx_fragment", "html_comment"}
)
_JAVA = {"string_literal", "character_literal", "template_expression"}
_GO = {"interpreted_string_literal", "raw_string_literal", "rune_literal"}
_COMMENT = frozenset({"comment"})

GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python", "language", frozenset({"string"}), _COMMENT, lines="indented"
    ),
    "javascript": Grammar(
        "tree_sitter_javascript", "language", _SCRIPT, _COMMENT, lines="restricted"
    ),
    "typescript": Grammar(
        "tree_sitter_typescript", "language_typescript", _SCRIPT, _COMMENT, lines="restricted"
    ),
    "tsx": Grammar("tree_sitter_typescript", "language_tsx", _SCRIPT, _COMMENT, lines="restricted"),
    "java": Grammar(
        "tree_sitter_java",
        "language",
        frozenset(_JAVA),
        frozenset({"line_comment", "block_comment"}),
        lines="free",
    ),
    "go": Grammar("tree_sitter_go", "language", frozenset(_GO), _COMMENT, lines="terminated"),
}


def grammar_of(language: str) -> str | None:
    """Return the name of the grammar for a language as somebody wrote it, or None."""
    return _GRAMMAR.get(language.strip().lower())
