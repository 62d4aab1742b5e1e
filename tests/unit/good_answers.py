"""Answers that look bad and are good: a gate that only says no would be of no use."""

from __future__ import annotations

import json

from tests.pictures import picture, png
from tests.unit.answer_cases import REPORT, WORD, Case, good, report
from tests.unit.bad_answers import drawn
from tests.unit.bad_answers_text import FENCED
from tests.unit.picture_files import gif, jpeg, svg, webp_lossless
from tidegate.vendors.base import Image

_SAID = [
    "I cannot help with that.",
    '{"error": {"message": "overloaded", "code": 529}}',
    "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "NaN",
    "null",
    "{}",
    "```json\n{not json",
    '{"a": 1, "a": 2}',
    "\ufeffbegins with a byte order mark",
    "zero\u200bwidth\u2060in between",
    "line\u2028and paragraph\u2029separators",
    "right to \u202eleft",
    "bell \x07 and escape \x1b[31m",
    "\U0001f600 \U0001f469\u200d\U0001f469\u200d\U0001f467",
    "a new sign \U0001fae9, a private one \ue000, none at all \uffff",
    "  spaces around \n",
    "\u00e9 and e\u0301",
    "\\ud83d is half a pair in words, and \\u0000 is NUL",
    "x" * 200,
    "\U0001f600" * 200,
]

WORDS = [
    *good("words", *[(f"words {n}", text, text) for n, text in enumerate(_SAID)]),
    *good("speech", ("a long speech", "word " * 60_000, "word " * 60_000)),
    *good("speech", ("a pair in two parts", f"{WORD}\U0001f600.", f"{WORD}\U0001f600.")),
    *good("words", ("what a partner wants", ' {"city": 1.0}\n', {"city": 1}),
          response_schema={"properties": {"city": {"type": "integer"}}}),
    *good("words", ("open as the partner says", '{"x": [true]}', {"x": [True]}),
          response_schema={"type": "object", "additionalProperties": True}),
    *good("spoken", ("both ours and theirs", '{"a": 1}', {"a": 1}),
          response_schema={"required": ["a"], "additionalProperties": True}),
]  # fmt: skip

_CODE = {
    "python": f'{WORD} = """```\nnot json: {{"a": 1, "a": 2}}\n"""\n',
    "javascript": "const f = async () => { await 1; };\r\n",
    "typescript": "type A<T> = T extends string ? 1 : 2;\n",
    "java": "class A { String s = \"\\u0041\"; }\n",
    "go": "package main\n\nvar s = `a\nb`\n",
    "cobol": "IDENTIFICATION DIVISION. (((",
    "text": "Sure! Here is no code at all.",
}  # fmt: skip
PROGRAMS = [
    *(
        Case(f"good {language}", "program", f"````{language}\n{text}\n````", language=language,
             value=text)
        for language, text in _CODE.items()
    ),
    Case("not in a fence", "program", "def f():\n\treturn {'a': None}", language="python"),
    Case("a fence of tildes", "program", "~~~\nx = 1\n~~~\n", value="x = 1"),
    Case("a fence kept", "listing", "```python\nx = 1\n```"),
    Case("prose kept", "listing", "Here is it: def f(:"),
]  # fmt: skip

REPORTS = [
    *good(
        "report",
        ("a report", report(), REPORT),
        ("blanks around", f"\r\n\t {report()} \n", REPORT),
        ("blanks within", json.dumps(REPORT, indent=8), REPORT),
        ("1.0 for 1", report(account_id=1.0), {**REPORT, "account_id": 1}),
        ("70e-1 for 7", report().replace("7", "70e-1", 1), REPORT),
        ("1 for 1.0", report(confidence_score=1), {**REPORT, "confidence_score": 1}),
        ("minus nothing", report().replace("0.5", "-0.0"), {**REPORT, "confidence_score": 0}),
        ("hardly sure", report(confidence_score=5e-324), {**REPORT, "confidence_score": 5e-324}),
        ("escapes for letters", report().replace("LOW", "\\u004c\\u004f\\u0057"), REPORT),
        ("another order", json.dumps(dict(reversed(REPORT.items()))), REPORT),
    ),
    *good(
        "fenced",
        ("in a fence", FENCED, REPORT),
        ("in a longer fence", f"`````JSON\r\n{report()}\r\n``````` \n", REPORT),
        ("in a fence without a name", f"\n\n```\n{report()}\n```", REPORT),
        ("in no fence", report(), REPORT),
    ),
]

VALUES = list(
    good(
        "value",
        ("brackets in a string", json.dumps(["[{" * 500]), ["[{" * 500]),
        ("as deep as may be", "[" * 64 + "]" * 64, json.loads("[" * 64 + "]" * 64)),
        ("a fence in a string", json.dumps({"md": "```json\n{}\n```"}), {"md": "```json\n{}\n```"}),
        ("separators in a string", '"\u2028\u2029\ufeff"', "\u2028\u2029\ufeff"),
        ("a pair of halves", '"\\ud83d\\ude00"', "\U0001f600"),
        ("an escaped backslash before ud83d", '"\\\\ud83d \\\\u0000"', "\\ud83d \\u0000"),
        ("NaN in a string", '["NaN", "Infinity", "1e400"]', ["NaN", "Infinity", "1e400"]),
        ("the largest integer", "[9007199254740991, -9007199254740991]", [2**53 - 1, 1 - 2**53]),
        ("the largest number", "1.7976931348623157e308", 1.7976931348623157e308),
        ("twenty digits in a string", '"73852952793126942533"', "73852952793126942533"),
        ("the same name twice, apart", '[{"a": 1}, {"a": {"a": 2}}]', [{"a": 1}, {"a": {"a": 2}}]),
        ("an empty name", '{"": {"": []}}', {"": {"": []}}),
        ("null", " null ", None),
        ("false", "false", False),
        ("a proto", '{"__proto__": {"a": 1}}', {"__proto__": {"a": 1}}),
    )
)

_HOLD = {
    "days in order": {"from": "2024-02-29", "to": "2024-02-29"},
    "moments across zones": {"from": "2024-01-01T01:00:00+01:00", "to": "2024-01-01T00:00:00.0Z"},
    "one end is missing": {"from": "tomorrow", "low": 3, "exact": None} | {"exact": 0},
    "a share of nothing": {"share": 0},
    "a total within half a cent": {"total": 0.3, "lines": [{"gross": 0.1}, {"gross": 0.205}]},
    "tenths in sum": {"exact": 0.3, "parts": [0.1, 0.2]},
    "a hundred cents": {"exact": 1, "parts": [0.01] * 100},
    "large and small": {"exact": 1e16, "parts": [1e16, 0.25, -0.25]},
    "the same in another order": {"first": {"a": 1, "b": [2.5]}, "again": {"b": [2.5], "a": 1}},
    "nothing is no account": {"account": None},
    "an account in words": {"account": "4711"},
    "one account on every line": {"lines": [{"account": 7}] * 1500},
    "a thousand towns": {"towns": [f"town {number}" for number in range(1000)]},
    "a leap day": {"day": "2024-02-29", "note": "\U0001f600" * 20},
}  # fmt: skip
INVOICES = [Case(name, "invoice", json.dumps(value), value=value) for name, value in _HOLD.items()]

_SQUARE = png("a square")
IMAGES = [
    drawn("one image", "", _SQUARE),
    drawn("four images", "", *[png(str(n)) for n in range(4)], n=4),
    drawn("the same twice", "", _SQUARE, _SQUARE, n=2),
    drawn("fewer where they may be", "", _SQUARE, model="pictures", n=4),
    drawn("image/jpg", "", Image(jpeg(64, 64), "image/jpg")),
    drawn("in capitals", "", Image(jpeg(64, 64), "IMAGE/JPEG; q=1")),
    drawn("called nothing", "", Image(gif(64, 64), None)),
    drawn("a webp", "", Image(webp_lossless(64, 64), "image/webp")),
    drawn("a drawing", "", Image(svg("width='64' height='64'"), "image/svg+xml")),
    drawn("of some other size", "", png("", 7, 9), size="auto"),
    drawn("nearly square", "", png("", 1020, 1000), aspect_ratio="1:1"),
    drawn("wide", "", picture("", 1536, 1024), aspect_ratio="3:2"),
    drawn("as large as asked", "", png("", 64, 64), size="64x64"),
]

GOOD: list[Case] = [*WORDS, *PROGRAMS, *REPORTS, *VALUES, *INVOICES, *IMAGES]
