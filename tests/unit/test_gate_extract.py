from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.gate.extract import code, json_value
from tidegate.rules.strict_json import MAX_INTEGER, NotStrictJson

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}\n```',
        '```JSON\n{"a": 1}\n```',
        '\n  ```json  \r\n{"a": 1}\r\n```  \n',
        '````json\n{"a": 1}\n````',
        '~~~json\n{"a": 1}\n~~~',
        '```json\n\n{"a":\n1}\n\n```',
        '{"a": 1}',
    ],
)
def test_one_fence_around_the_whole_answer(text: str) -> None:
    assert json_value(text, fenced=True) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        'Here it is:\n```json\n{"a": 1}\n```',
        '```json\n{"a": 1}\n```\nHope this helps!',
        '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```',
        '```json\n{"a": 1}\n```\n\n{"a": 2}',
        '```json\n{"a": 1}',
        '{"a": 1}\n```',
        '```json\n{"a": 1}\n~~~',
        '````json\n{"a": 1}\n```',
        '```python\n{"a": 1}\n```',
        '```json {"a": 1}```',
        '```json\n```json\n{"a": 1}\n```\n```',
        "```json\n```",
        "```",
        "``````",
        '``json\n{"a": 1}\n``',
    ],
)
def test_anything_else_with_fences_is_refused(text: str) -> None:
    with pytest.raises(NotStrictJson):
        json_value(text, fenced=True)


def test_a_fence_is_refused_where_the_entry_does_not_say_so() -> None:
    with pytest.raises(NotStrictJson):
        json_value('```json\n{"a": 1}\n```', fenced=False)


@given(VALUES, st.sampled_from(["```", "````", "~~~"]), st.sampled_from(["", "json"]))
def test_every_value_comes_out_of_its_fence(value: Any, fence: str, word: str) -> None:
    text = f"{fence}{word}\n{json.dumps(value)}\n{fence}"
    assert json_value(text, fenced=True) == value
    with pytest.raises(NotStrictJson):
        json_value(text, fenced=False)


@given(VALUES, VALUES)
def test_of_two_fences_neither_is_taken(first: Any, second: Any) -> None:
    text = f"```json\n{json.dumps(first)}\n```\n```json\n{json.dumps(second)}\n```"
    with pytest.raises(NotStrictJson):
        json_value(text, fenced=True)


@given(st.text(max_size=80), st.booleans())
def test_any_text_is_a_value_or_a_clear_no(text: str, fenced: bool) -> None:
    try:
        value = json_value(text, fenced=fenced)
    except NotStrictJson:
        return
    assert json.loads(json.dumps(value, allow_nan=False)) == value


def test_blanks_beside_a_fence_take_no_more_time_than_their_number() -> None:
    begun = time.process_time()
    with pytest.raises(NotStrictJson):
        code("```" + " " * 50_000 + "!\n```", fenced=True)
    assert time.process_time() - begun < 0.5
