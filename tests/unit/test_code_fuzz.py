"""Real functions, changed by chance: a change of meaning is another key, any other is not.

The judge is Python's own parser and its symbol tables, which the normalisation does not use.
"""

from __future__ import annotations

import ast
import importlib
import random
import symtable
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.unit.code_mutants import MUTATIONS, mutant
from tidegate.rules.canonical import sha256
from tidegate.rules.normalise import normalised, renamed, structured

MODULES = ["argparse", "ast", "bisect", "calendar", "configparser", "csv", "dataclasses"]
MODULES += ["difflib", "fractions", "functools", "heapq", "json.decoder", "shlex", "statistics"]
MODULES += ["string", "tarfile", "textwrap", "tokenize", "typing", "urllib.parse", "zipfile"]


@cache
def functions() -> list[str]:
    """Return functions of the standard library as they are written, comments and all."""
    found = []
    for name in MODULES:
        code = Path(importlib.import_module(name).__file__ or "").read_text(encoding="utf-8")
        lines = code.splitlines()
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n")
                if 120 < len(text) < 2500 and program(text) is not None:
                    found.append(text)
    return found


def chosen(count: int, chance: random.Random) -> Iterator[str]:
    for _ in range(count):
        yield chance.choice(functions())


def program(text: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "text", "exec")
            return ast.dump(ast.parse(text))
        except (SyntaxError, ValueError):
            return None


def asked(code: str) -> dict[str, Any]:
    return {"instruction": "Improve it.", "language": "python", "code": code}


def keys(code: str) -> list[str | None]:
    """Return the names of a text: with comments, without, and under canonical names."""
    found = structured(asked(code), ignore_comments=True)
    return [
        sha256(normalised(asked(code), "code")),
        sha256(normalised(asked(code), "code", ignore_comments=True)),
        None if found is None else sha256(found.input),
    ]


def without_docstrings(code: str) -> str:
    """Return code in one layout, without texts over several lines, which have none of their own."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.body = [s for s in node.body if not _is_text(s)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def test_a_change_of_meaning_is_another_key() -> None:
    chance = random.Random(20261130)  # noqa: S311
    made: Counter[str] = Counter()
    for text in chosen(1500, chance):
        tree = ast.parse(text)
        changed = mutant(tree, chance)
        if changed is None:
            continue
        made[changed[0]] += 1
        before, after = keys(ast.unparse(tree)), keys(changed[1])
        assert not set(before) & set(after) - {None}, (
            f"{changed[0]}\n{ast.unparse(tree)}\n{changed[1]}"
        )
    assert len(made) == len(MUTATIONS)
    assert made.total() > 700


def test_texts_of_one_key_are_one_program() -> None:
    """Spaces, tabs, line ends, backslashes and comments put in, taken out, exchanged anywhere."""
    chance = random.Random(7)  # noqa: S311
    one = 0
    for text in chosen(250, chance):
        key = keys(text)[1]
        for _ in range(6):
            changed = text
            for _ in range(chance.choice([1, 1, 2, 3])):
                changed = disturbed(changed, chance)
            if keys(changed)[1] == key:
                one += 1
                assert program(changed) == program(text), changed
    assert one > 200


def disturbed(text: str, chance: random.Random) -> str:
    what = chance.choice(
        [" ", "\n", "\n ", "\\\n", "\t", "    ", "\f", "#x\n", ";", "\u00a0", "\r"]
    )
    spaces = [at for at, character in enumerate(text) if character in " \t\n"]
    at = chance.choice(spaces)
    return chance.choice(
        [
            text[:at] + what + text[at:],
            text[:at] + text[at + 1 :],
            text[:at] + what + text[at + 1 :],
            text[: (middle := chance.randrange(len(text)))] + what + text[middle:],
        ]
    )


def test_layout_and_comments_are_not_in_the_key() -> None:
    chance = random.Random(11)  # noqa: S311
    for text in chosen(200, chance):
        code = without_docstrings(text)
        if '"""' in code or "'''" in code:
            continue  # newer Pythons write f-strings over several lines
        width = chance.choice([" ", "  ", "\t", " " * 8])
        lines = [indented(line, width) for line in code.splitlines()]
        spaced = "\n".join(line + chance.choice(["", "", "\n", "   ", "\n\n"]) for line in lines)
        assert keys(spaced) == keys(code)
        noted = "\n".join(line + chance.choice(["", "  # so", "\n# and so"]) for line in lines)
        assert keys(noted)[1:] == keys(code)[1:]


def indented(line: str, width: str) -> str:
    rest = line.lstrip(" ")
    return width * ((len(line) - len(rest)) // 4) + rest


def names_of(code: str) -> tuple[str, ...]:
    found = structured(asked(code), ignore_comments=True)
    return () if found is None else found.names


def test_only_local_variables_have_canonical_names() -> None:
    named = 0
    for text in functions():
        names = set(names_of(text))
        named += bool(names)
        for symbol, kind in symbols(symtable.symtable(text, "text", "exec")):
            if symbol.get_name() in names:
                assert kind == "function" or not symbol.is_assigned()
                assert symbol.is_local() or symbol.is_free()
                assert not symbol.is_imported()
                assert not symbol.is_namespace()
    assert named > len(functions()) / 2


def symbols(table: symtable.SymbolTable) -> Iterator[tuple[symtable.Symbol, str]]:
    for symbol in table.get_symbols():
        yield symbol, str(table.get_type())
    for below in table.get_children():
        yield from symbols(below)


class Rename(ast.NodeTransformer):
    """Other names of variables, in Python's own tree."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        node.name = self._names.get(node.name, node.name) if node.name else None
        return node


@pytest.mark.parametrize("seed", range(2))
def test_names_of_variables_are_not_in_the_second_key(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    done = 0
    for text in chosen(120, chance):
        code = ast.unparse(ast.parse(text))
        theirs = names_of(code)
        if not theirs:
            continue
        ours = [f"v{number}" for number in range(len(theirs))]
        if seed:  # the same names, each another's
            ours = [*theirs[1:], theirs[0]]
        tree = Rename(dict(zip(theirs, ours, strict=True))).visit(ast.parse(code))
        other = ast.unparse(tree)
        assert keys(other)[2] == keys(code)[2]
        assert names_of(other) == tuple(ours)
        # And the same code as an answer, in the other names and back.
        answer = renamed({"text": f"```py\n{code}\n```\n"}, "python", theirs, ours)
        assert answer == {"text": f"```py\n{other}\n```\n"}
        assert renamed(answer, "python", ours, theirs) == {"text": f"```py\n{code}\n```\n"}
        done += 1
    assert done > 40
