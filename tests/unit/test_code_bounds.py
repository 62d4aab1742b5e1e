"""What any text may cost where code is read, in CPU time and memory: at most what is promised.

Each is read as a post, as an answer to be renamed and as one to be parsed, in a process that has
100 MB more than it began with and ends where it needs more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.parser_bounds import MOST_BYTES, cost
from tidegate.doors.sandbox import Sandbox
from tidegate.rules.normalise import normalised, structured
from tidegate.rules.normalise.languages import GRAMMARS

MOST_CPU = 1.0
"""Seconds: 0.2 are promised, and what runs beside the tests may slow them."""

FULL = 200_000
"""Characters of the largest input that models take if the operator says nothing else."""

ANY = {
    "assignments without end": "a=>" * 2_000,
    "type arguments without end": "A<" * (FULL // 2),
    "fewer of them": "A<" * 10_000,
    "backslashes at line ends": "\\\n" * 31_000,
    "round brackets": "(" * (FULL // 2) + ")" * (FULL // 2),
    "brackets that are not closed": "([{" * (FULL // 3),
    "lambdas": "(a)=>" * 20_000,
    "arrows": "a->" * 20_000,
    "conditions": "a?b:" * 40_000,
    "templates": "`${" * 60_000,
    "f-strings": "f'{" * 60_000,
    "a string without end": "'" + "a" * FULL,
    "quotes": '"' * FULL,
    "comments without end": "/*" * (FULL // 2),
    "elements": "<a>" * 40_000,
    "elements that close": "</a>" * 40_000,
    "deep indentation": "".join(" " * n + "if a:\n" for n in range(600)),
    "blank lines of blanks": " \t" * (FULL // 2) + "\n",
    "NUL": "\0" * FULL,
    "marks": "a" + "\u0301" * 90_000,
    "one long name": "a" * FULL,
    "names joined": "a." * (FULL // 2),
    "tiny statements": "a;" * (FULL // 2),
    "tiny lines": "a\n" * (FULL // 2),
    "unary operators": "~ &" * 2_700,
    "a short one": "a=>" * 333,
    "a short one of operators": "}&" * 499,
}

OWN = {
    "many names in a deep pattern": ("javascript", f"{'[' * 400}{'a,' * 9_000}{']' * 400} = a\n"),
    "many parameters": ("python", f"def f({', '.join(f'a{n}' for n in range(9_000))}): pass\n"),
    "a long line": ("python", "x = " + " + ".join(["a"] * 4_900) + "\n"),
    "a comment of blank lines": ("javascript", f"/*{chr(10) * 90_000}*/ a\n"),
    "generics of generics": ("java", f"class A {{ {'A<' * 900}A{'>' * 900} a; }}\n"),
    "statements in a function": ("go", "package m\nfunc f() {\n" + "a = b\n" * 30_000 + "}\n"),
    "nested functions": ("typescript", "function f() { " * 900 + "}" * 900),
}

CASES = [
    *((name, grammar, text) for name, text in ANY.items() for grammar in GRAMMARS),
    *((name, grammar, text) for name, (grammar, text) in OWN.items()),
]


@pytest.mark.parametrize(
    ("grammar", "text"),
    [case[1:] for case in CASES],
    ids=[f"{case[1]}: {case[0]}" for case in CASES],
)
def test_no_text_costs_more_than_is_promised(
    grammar: str, text: str, record_property: Callable[[str, object], None]
) -> None:
    found = cost(text, grammar)
    assert found is not None, "it ended the process that read it"
    record_property("ms", round(found.seconds * 1000))
    record_property("MB", round(found.bytes / 1e6, 1))
    assert found.seconds < MOST_CPU
    assert found.bytes < MOST_BYTES


LARGE = {
    "python": "def f(a):\n    b = a + 1\n    return b\n\n\n",
    "javascript": "function f(a) {\n  const b = a + 1;\n  return b;\n}\n",
    "typescript": "function f(a: number) {\n  const b = a + 1;\n  return b;\n}\n",
    "tsx": "const f = (a: number) => {\n  const b = a + 1;\n  return [<p></p>, b];\n};\n",
    "java": "class A {\n  int f(int a) {\n    int b = a + 1;\n    return b;\n  }\n}\n",
    "go": "func f(a int) int {\n\tb := a + 1\n\treturn b\n}\n",
}


@pytest.mark.parametrize("grammar", LARGE)
def test_a_thousand_lines_still_have_both_their_names(grammar: str) -> None:
    part = LARGE[grammar]
    text = ("package m\n" if grammar == "go" else "") + part * (1_000 // part.count("\n"))
    asked = {"instruction": "", "language": grammar, "code": text}
    spaced = {**asked, "code": text.replace(" + ", "  +  ")}
    for each in (asked, spaced):
        named = normalised(each, "code-structure", bounded=Sandbox())
        assert named == normalised(each, "code-structure")  # without bounds
        assert named["code"][:2] == ["code", grammar]
    assert normalised(asked, "code", bounded=Sandbox()) == normalised(spaced, "code")
    found = structured(asked, ignore_comments=False, bounded=Sandbox())
    assert found == structured(asked, ignore_comments=False)
    assert found is not None
    assert set(found.names) == {"a", "b"}
