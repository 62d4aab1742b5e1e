"""An answer in somebody else's names: exactly right, or not at all."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tidegate.rules.normalise import renamed

CODE = "def f(a, b):\n    c = a - b\n    return c\n"
OURS = "def f(x, y):\n    z = x - y\n    return z\n"


def answer(text: str, theirs: str, ours: str, language: str = "python") -> str | None:
    """Return the text under other names (words of a string), or None."""
    output = renamed({"text": text, "model": "m"}, language, theirs.split(), ours.split())
    if output is None:
        return None
    assert output["model"] == "m"  # whatever else it holds stays
    return str(output["text"])


def test_plain_code() -> None:
    assert answer(CODE, "a b c", "x y z") == OURS


@pytest.mark.parametrize("label", ["", "python", "py", " Python"])
def test_code_in_fences(label: str) -> None:
    text = "Here it is:\n\n```{}\n{}```\n\nIt is shorter.\n"
    assert answer(text.format(label, CODE), "a b c", "x y z") == text.format(label, OURS)


def test_several_blocks_and_other_fences() -> None:
    text = "One.\n~~~py\n{0}~~~\nTwo.\n````\n{0}````"
    assert answer(text.format(CODE), "a b c", "x y z") == text.format(OURS)


def test_names_that_change_places() -> None:
    swapped = "def f(b, a):\n    c = b - a\n    return c\n"
    assert answer(CODE, "a b c", "b a c") == swapped
    assert answer(CODE, "a b c", "b c a") == "def f(b, c):\n    a = b - c\n    return a\n"


def test_the_same_names_need_no_reading() -> None:
    output = {"text": "no code ```"}
    assert renamed(output, "cobol", ["a"], ["a"]) is output


def test_what_the_answer_added_is_left_alone() -> None:
    text = "def f(a):\n    # so\n    total = [i for i in a]\n    return total\n"
    assert answer(text, "a", "x") == text.replace("(a)", "(x)").replace("in a]", "in x]")


def test_a_name_that_does_not_occur_is_no_hindrance() -> None:
    assert answer("def f(a):\n    return a\n", "a gone", "x y") == "def f(x):\n    return x\n"


def test_layout_and_letters_of_others_are_kept() -> None:
    text = "def f( a ):\n\n\treturn  'ä' + a   # ü\n"
    assert answer(text, "a", "longer") == "def f( longer ):\n\n\treturn  'ä' + longer   # ü\n"


class Refused(NamedTuple):
    why: str
    text: str
    language: str = "python"
    theirs: str = "a b"
    ours: str = "x y"


IN = "def f(a, b):\n    {}\n    return a - b\n"

REFUSED = [
    Refused("no code", "I cannot do that: it is not allowed."),
    Refused("not read", "def f(a, b:\n    return a"),
    Refused("of no known language", CODE, "cobol"),
    Refused("in prose", f"I changed a little.\n```\n{CODE}```\n"),
    Refused("in prose, as code", f"Now `a` is first.\n```\n{CODE}```\n"),
    Refused("in prose after it", f"```\n{CODE}```\nHere b is less.\n"),
    Refused("our name in prose", f"Some x.\n```\n{CODE}```\n"),
    Refused("in a string", IN.format("print('a')")),
    Refused("in a string after an escape", IN.format(r"print('\na')")),
    Refused("in an f-string", IN.format("print(f'{a}')")),
    Refused("in a docstring", IN.format('"""Take b from a."""')),
    Refused("in a comment", IN.format("# a is first")),
    Refused("an attribute", IN.format("g.a()")),
    Refused("a keyword argument", IN.format("g(a=a)")),
    Refused("an import", IN.format("import a")),
    Refused("global", "a = 1\ndef f(b):\n    return a - b\n"),
    Refused("declared global", "def f(b):\n    global a\n    a = b\n"),
    Refused("a function", "def a(b):\n    return b\n"),
    Refused("a class's member", "class A:\n    a = 1\n"),
    Refused("free", "def f(b):\n    return a - b\n"),
    Refused("not in a function", "c = a - b\n"),
    Refused("looked up by name", IN.format("print(locals())")),
    Refused("our name is there", IN.format("x = 1")),
    Refused("our name is a function", IN.format("x()")),
    Refused("our name is an attribute", IN.format("a.x()")),
    Refused("our name is in a string", IN.format("print('x')")),
    Refused("our name is theirs and stays", IN.format("c = 1"), theirs="a", ours="b"),
    Refused("another language's block", f"```js\n{CODE}```\n"),
    Refused("one block of another", f"```py\n{CODE}```\n```sh\nls\n```\n"),
    Refused("an open fence", f"```py\n{CODE}"),
    Refused("an indented fence", f"- so:\n  ```py\n  {CODE}  ```\n"),
    Refused("a fence in a line", f"```py\n{CODE}```\nor ```f(1)```"),
    Refused("an attribute of a fence", f'```py title="a"\n{CODE}```\n'),
    Refused("lines that end otherwise", CODE.replace("\n", "\r\n")),
    Refused("of other numbers", CODE, theirs="a b", ours="x"),
    Refused("two become one", CODE, theirs="a b", ours="x x"),
    Refused("a keyword", CODE, theirs="a b", ours="x if"),
    Refused("no name", CODE, theirs="a b", ours="x 1"),
    Refused("one that looks like code", CODE, theirs="a b", ours="x y=1"),
    Refused("shorthand", "function f(a, b) { return { a, b } }", "js"),
    Refused("pattern", "function f({ a, b }) { return a - b }", "js"),
    Refused("markup", "function f(a, b) { return <p>{a}</p> }", "js"),
    Refused("template", "function f(a, b) { return `${a}` }", "js"),
    Refused("a member", "class A { int a; int f(int b) { return a - b; } }", "java"),
    Refused("a literal's field", "package m\nfunc f(a, b int) T { return T{a: b} }", "go"),
    Refused("a label", "function f(b) { a: for (;;) { break a } }", "js"),
    Refused("a type's", "function f(a: any, b: any): a is A { return b }", "ts"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_what_is_not_certain_is_refused(case: Refused) -> None:
    assert answer(case.text, case.theirs, case.ours, case.language) is None


def test_an_output_without_text_is_refused() -> None:
    assert renamed({"data": {}}, "python", ["a"], ["b"]) is None


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("js", "const f = (a, { k: b }) => a.b1(b);", "const f = (x, { k: y }) => x.b1(y);"),
        ("tsx", "function f(a: A, b?: B) { return a! + b; }",
         "function f(x: A, y?: B) { return x! + y; }"),
        ("java", "class A { int f(int a) { int b = a; return b; } }",
         "class A { int f(int x) { int y = x; return y; } }"),
        ("go", "package m\n\nfunc f(a int) int {\n\tb := a\n\treturn b\n}\n",
         "package m\n\nfunc f(x int) int {\n\ty := x\n\treturn y\n}\n"),
    ],
)  # fmt: skip
def test_other_languages(language: str, text: str, expected: str) -> None:
    assert answer(text, "a b", "x y", language) == expected
