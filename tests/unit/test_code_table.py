"""Normalisation of code: pairs that are one, and pairs that must never be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.code_pairs import PYTHON, Pair
from tests.unit.code_pairs_compiled import GO, JAVA
from tests.unit.code_pairs_script import JAVASCRIPT, TYPESCRIPT
from tidegate.rules.canonical import sha256
from tidegate.rules.normalise import normalised, structured
from tidegate.rules.normalise.languages import grammar_of
from tidegate.rules.normalise.text import text

TABLES = [PYTHON, JAVASCRIPT, TYPESCRIPT, JAVA, GO]
PAIRS = [pair for table in TABLES for pair in table]


def value(pair: Pair, code: str) -> dict[str, Any]:
    return {"instruction": "Improve it.", "language": pair.language, "code": code}


def key(pair: Pair, code: str, *, ignore_comments: bool) -> str:
    return sha256(normalised(value(pair, code), "code", ignore_comments=ignore_comments))


def second_key(pair: Pair, code: str, *, ignore_comments: bool) -> str:
    """Return the name under canonical names; where there is none, one that nothing else has."""
    found = structured(value(pair, code), ignore_comments=ignore_comments)
    return sha256([code]) if found is None else sha256(found.input)


def test_each_language_has_its_pairs() -> None:
    assert all(len(table) >= 12 for table in TABLES)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("ignore_comments", [False, True])
def test_a_pair(pair: Pair, ignore_comments: bool) -> None:
    one, other = (
        key(pair, code, ignore_comments=ignore_comments) for code in (pair.one, pair.other)
    )
    by_structure, others = (
        second_key(pair, code, ignore_comments=ignore_comments) for code in (pair.one, pair.other)
    )
    layout = pair.same == "code" or (pair.same == "comments" and ignore_comments)
    assert (one == other) == layout
    if pair.same == "nothing":
        assert by_structure != others
    if pair.same == "names":
        assert (by_structure == others) == (ignore_comments or "#" not in pair.other)
    assert one not in {by_structure, others}


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.same != "nothing"])
def test_what_is_one_was_read(pair: Pair) -> None:
    """Else the two would be one as text, and show nothing."""
    for code in (pair.one, pair.other):
        assert isinstance(normalised(value(pair, code), "code")["code"], list)


def test_structure_names_the_variables_in_order() -> None:
    pair = Pair("py", "names", "def f(b, a):\n    c = a\n    return self.a if b else c\n", "")
    found = structured(value(pair, pair.one), ignore_comments=False)
    assert found is not None
    assert found.names == ("b", "c")  # `a` is an attribute too


def test_a_name_that_the_instruction_has_is_kept() -> None:
    code = "def f(a, b):\n    return a - b\n"
    asked = {"instruction": "Rename `a` to total.", "language": "python", "code": code}
    found = structured(asked, ignore_comments=True)
    assert found is not None
    assert found.names == ("b",)
    other = structured({**asked, "code": code.replace("a", "x")}, ignore_comments=True)
    assert other is not None
    assert sha256(found.input) != sha256(other.input)


@pytest.mark.parametrize(
    ("language", "code"),
    [("python", "def f(:\n  pass"), ("cobol", "x = 1"), ("python", "x = 1\ry = 2"),
     ("python", "x = 1\0"), ("java", "class {"), ("go", "func"), ("js", "(" * 9), ("ts", "a b c")],
)  # fmt: skip
def test_what_cannot_be_read_is_text(language: str, code: str) -> None:
    asked = {"instruction": " as it is ", "language": language, "code": f"\r\n{code}\r\n"}
    assert normalised(asked, "code") == {**asked, "code": text(code)}
    assert normalised(asked, "code-structure") == normalised(asked, "code")
    assert structured(asked, ignore_comments=True) is None


def test_the_first_indent_of_what_cannot_be_read_counts() -> None:
    one, other = "  if a:\n  b(", "if a:\n  b("
    asked = {"instruction": "i", "language": "python"}
    assert normalised({**asked, "code": one}, "code") != normalised(
        {**asked, "code": other}, "code"
    )


def test_text_that_looks_like_a_form_is_another_key() -> None:
    asked = {"instruction": "i", "language": "python", "code": "x = 1"}
    form = normalised(asked, "code")["code"]
    for imitation in (json.dumps(form), "".join(form), form[2]):
        assert sha256(normalised({**asked, "code": imitation}, "code")) != sha256(
            {**asked, "code": form}
        )


def test_only_the_code_is_normalised() -> None:
    asked = {"instruction": " x\r\n", "language": "python", "code": "x=1"}
    for member, changed in (("instruction", "x"), ("language", "py")):
        assert sha256(normalised({**asked, member: changed}, "code")) != sha256(
            normalised(asked, "code")
        )


@pytest.mark.parametrize("nested", ["(" * 150_000 + ")" * 150_000, "-" * 200_000 + "1"])
def test_depth_has_an_end(nested: str) -> None:
    asked = {"instruction": "i", "language": "python", "code": f"x = {nested}"}
    assert normalised(asked, "code") == asked
    assert structured(asked, ignore_comments=True) is None


def test_long_chains_are_read() -> None:
    asked = {"instruction": "i", "language": "js", "code": "x = " + " + ".join(["a"] * 900)}
    assert isinstance(normalised(asked, "code")["code"], list)


@pytest.mark.parametrize(
    ("name", "grammar"),
    [("Python3", "python"), (" PY ", "python"), ("JSX", "javascript"), ("node", "javascript"),
     ("TS", "typescript"), ("tsx", "tsx"), ("golang", "go"), ("Java", "java"), ("c", None)],
)  # fmt: skip
def test_names_of_languages(name: str, grammar: str | None) -> None:
    assert grammar_of(name) == grammar


def test_no_parser_is_loaded_before_code_comes() -> None:
    layer = Path(__file__).parent.parent.parent / "layers" / "tidegate" / "python"
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import tidegate.rules.normalise as n; "
        "n.normalised({'a': 'b'}, 'text'); n.renamed({'text': 'x'}, 'python', ['a'], ['a']); "
        "print(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(layer)], capture_output=True, text=True
    )
    assert done.stdout.strip() == "False", done.stderr
