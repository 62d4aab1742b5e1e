from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.rules.strict_json import MAX_DEPTH, MAX_INTEGER, NotStrictJson, loads


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("null", None),
        (" true\n", True),
        ("0", 0),
        ("-0", 0),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("1e-400", 0.0),
        (str(MAX_INTEGER), MAX_INTEGER),
        (str(-MAX_INTEGER), -MAX_INTEGER),
        ('""', ""),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\U0001f600"', "\U0001f600"),
        ('"\\u0000"', "\x00"),
        ('"\u2028"', "\u2028"),
        ('"[[[\\"[[["', '[[["[[['),
        ('{"a": {"a": 1}}', {"a": {"a": 1}}),
        ('{"a": 1, "A": 2}', {"a": 1, "A": 2}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)),
        ("[" + "[]," * 1000 + "[]]", [[]] * 1001),
    ],
)
def test_one_strict_value(raw: str, value: Any) -> None:
    assert repr(loads(raw)) == repr(value)
    assert repr(loads(raw.encode())) == repr(value)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "empty"),
        (" \r\n\t", "empty"),
        ("1 2", "Extra data"),
        ('{"a":1}{"a":2}', "Extra data"),
        ("{} // done", "Extra data"),
        ("01", "Extra data"),
        ("+1", "Expecting value"),
        (".5", "Expecting value"),
        ("'a'", "Expecting value"),
        ("[1,]", "at character"),
        ('{"a":1,}', "at character"),
        ("{a:1}", "at character"),
        ('{"a"', "at character"),
        ("True", "Expecting value"),
        ('"\t"', "control character"),
        ('"\\x41"', "escape"),
        ('"open', "Unterminated"),
        ("\x0b1", "Expecting value"),
        ("\u00a01", "Expecting value"),
        ("\ufeff1", "BOM"),
        ("NaN", "not a JSON number"),
        ("[-Infinity]", "not a JSON number"),
        ('{"a": Infinity}', "not a JSON number"),
        ("1e400", "too large"),
        ("-1e400", "too large"),
        ("1" * 5000 + ".0", "too large"),
        (str(MAX_INTEGER + 1), "beyond 2"),
        (str(-MAX_INTEGER - 1), "beyond 2"),
        ("9" * 100_000, "beyond 2"),
        ('{"a":1,"a":1}', "twice"),
        ('[{"b":{"a":1,"\\u0061":2}}]', "twice"),
        ('"\\ud83d"', "surrogate"),
        ('"\\udcb2\\ud83d"', "surrogate"),
        ('{"\\ud83d": 1}', "surrogate"),
        ('[["\\udc00"]]', "surrogate"),
        ('"\ud83d"', "surrogate"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested"),
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000, "nested"),
        ('"a",' + "[" * 100_000, "nested"),
    ],
)
def test_anything_else_is_refused_with_why(raw: str, why: str) -> None:
    with pytest.raises(NotStrictJson, match=why):
        loads(raw)


@pytest.mark.parametrize(
    "raw",
    [b"\xff", b'"\xc0\x80"', b'"\xed\xa0\xbd"', b"\xff\xfe1\x00", b'"\xf4\x90\x80\x80"', b'"\xc3'],
)
def test_what_is_not_utf8_is_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson, match="not UTF-8 at byte"):
        loads(raw)


@pytest.mark.parametrize(
    "raw",
    ['"' + '\\"' * 100_000, '\\"' * 100_000, '"' + '\\"' * 100_000 + "\\", '"a' * 100_001],
    ids=["open string", "stray escapes", "ends in an escape", "odd quotes"],
)
def test_a_hostile_text_is_refused_in_linear_time(raw: str) -> None:
    began = time.process_time()
    with pytest.raises(NotStrictJson):
        loads(raw)
    assert time.process_time() - began < 1


def test_errors_never_quote_the_text() -> None:
    for raw in ('{"secret": secret}', '"secret', '{"secret":1,"secret":2}', '"secret\\ud83d"'):
        with pytest.raises(NotStrictJson) as caught:
            loads(raw)
        assert "secret" not in str(caught.value)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_clear_no(raw: bytes) -> None:
    try:
        value = loads(raw)
    except NotStrictJson:
        return
    assert loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode()) == value
