"""Whatever is sent as code has a name, the same each time, and nothing breaks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.rules.normalise import normalised, renamed, structured

SIGNS = """
a b f 1 .5 's' " ' ` ${ } { ( ) [ ] < > </ / // /* */ # \\ ; : := , . = => -> + ++ - ! ? @ $ _
def return if else for in class function let var const import func type int new async await yield
lambda match case global with try eval ```
"""
PIECES = [*SIGNS.split(), '"""']
PIECES += ["\n", "\n    ", "\n\t", "\r\n", "\r", " ", "\t", "\f", "\0", "package m\n", "return "]
PIECES += ["\u00e4", "\u0301", "\u200b", "\ufeff", "\u2028", "\U0001d4b3", "def f(a):\n  "]
ANYTHING = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=60
)
LANGUAGES = st.sampled_from(["python", "js", "ts", "tsx", "java", "go", "other"])


@given(ANYTHING, LANGUAGES, st.booleans())
@settings(max_examples=400)
def test_any_text_has_its_names(code: str, language: str, ignore_comments: bool) -> None:
    asked = {"instruction": "", "language": language, "code": code}
    named = normalised(asked, "code", ignore_comments=ignore_comments)
    assert named == normalised(asked, "code", ignore_comments=ignore_comments)
    json.dumps(named)
    found = structured(asked, ignore_comments=ignore_comments)
    if found is not None:
        assert found == structured(asked, ignore_comments=ignore_comments)
        assert len(set(found.names)) == len(found.names) > 0
        assert found.input["code"] != named["code"]


@given(ANYTHING, LANGUAGES)
@settings(max_examples=200)
def test_any_answer_is_renamed_or_refused(text: str, language: str) -> None:
    answer = renamed({"text": text}, language, ["a", "b"], ["b", "a"])
    if answer is not None:
        # Two variables that change places twice are where they were.
        assert renamed(answer, language, ["b", "a"], ["a", "b"]) == {"text": text}


@pytest.mark.parametrize("code", [None, 1, ["x"], {"a": "b"}])
def test_what_is_no_text_is_left(code: object) -> None:
    assert normalised({"language": "python", "code": code}, "code")["code"] == code


def test_a_language_that_is_no_text_is_unknown() -> None:
    asked = {"language": 1, "code": "x = 1"}
    assert normalised(asked, "code") == asked
    assert structured(asked, ignore_comments=True) is None


def test_half_a_surrogate_pair_is_not_read() -> None:
    asked = {"language": "python", "code": "x = '\ud800'"}
    assert normalised(asked, "code") == asked
