"""Bad answers, all of them.

Here: of no schema, untrue to themselves or to our data, code that is none, wrong images.
"""

from __future__ import annotations

import json
from typing import Any

from tests.pictures import picture, png
from tests.unit.answer_cases import CATALOGUE_OF_CASES, NUMBER, WORD, Case, bad, report
from tests.unit.bad_answers_nearly import NEARLY
from tests.unit.bad_answers_text import TEXT
from tests.unit.picture_files import gif, jpeg
from tidegate.vendors.base import Image


def one(model: str, code: str, name: str, pointer: str, value: Any) -> Case:
    """Return the case of a value that fails at one place."""
    text = value if isinstance(value, str) else json.dumps(value)
    return Case(name, model, text, code, pointer)


def drawn(
    name: str, code: str, *images: bytes | Image, model: str = "picture", **params: Any
) -> Case:
    """Return the case of some images, the first of which is wrong if any is."""
    made = tuple(e if isinstance(e, Image) else Image(e, "image/png") for e in images)
    pointer = "/images" if code == "image_count" else "/images/0"
    return Case(name, model, None, code, pointer, images=made, params=params)


_CONTRACT = CATALOGUE_OF_CASES.models["report"].contract
_ECHO = json.dumps(_CONTRACT.schema_ if _CONTRACT else {})
_OWN = {
    "type": "object",
    "required": ["city"],
    "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}},
}

SCHEMA = [
    *bad(
        "report",
        "schema",
        ("an empty object", "{}"),
        ("nothing in JSON", "null"),
        ("an empty list", "[]"),
        ("a string", f'"{WORD}"'),
        ("a number", f"{NUMBER}"),
        ("a list of one", f"[{report(account_id=NUMBER)}]"),
        ("a member too many", report(**{WORD: 1})),
        ("a member missing", report(account_id=NUMBER, risk_level=None)),
        ("an error instead", json.dumps({"error": {"message": WORD, "code": 429}})),
        ("an apology instead", json.dumps({"message": f"Sorry, {WORD}"})),
        ("the schema itself", _ECHO),
        ("inside of another", json.dumps({"answer": json.loads(report(account_id=NUMBER))})),
        ("in other letters", report(account_id=NUMBER).replace("account_id", "Account_Id")),
    ),
    *(
        one("report", "schema", name, f"/{member}", report(**{"account_id": NUMBER, member: value}))
        for name, member, value in [
            ("a number as text", "account_id", "48151623"),
            ("true for a number", "account_id", True),
            ("a fraction", "account_id", NUMBER + 0.5),
            ("zero", "account_id", 0),
            ("less than nothing", "account_id", -NUMBER),
            ("a number in a list", "account_id", [NUMBER]),
            ("yes", "anomaly_detected", "yes"),
            ("1 for true", "anomaly_detected", 1),
            ("true as text", "anomaly_detected", "true"),
            ("too sure", "confidence_score", 1.01),
            ("9999", "confidence_score", 9999),
            ("per cent", "confidence_score", "50%"),
            ("less than unsure", "confidence_score", -0.01),
            ("no level", "risk_level", WORD),
            ("a level in lower case", "risk_level", "low"),
            ("a level and a space", "risk_level", "LOW "),
            ("a level in a list", "risk_level", [WORD]),
        ]
    ),
    one("invoice", "schema", "a member below", "/lines/1", {"lines": [{}, {"net": 1, WORD: 2}]}),
    one("invoice", "schema", "a type below", "/lines/0/net", {"lines": [{"net": WORD}]}),
    one("invoice", "schema", "a note too long", "/note", {"note": WORD * 3}),
    one("invoice", "schema", "no such day", "/day", {"day": "2023-02-29", "note": WORD}),
    one("invoice", "schema", "a tag twice", "/tags", {"tags": [WORD, WORD]}),
    one("invoice", "schema", "tags too many", "/tags", {"tags": [1, 2, WORD]}),
    one("spoken", "schema", "a list where an object is due", "", [WORD]),
    Case("not the partner's", "words", f'{{"town": "{WORD}"}}', "schema", response_schema=_OWN),
    Case("a small city", "words", '{"city": "quastel"}', "schema", "/city", response_schema=_OWN),
    Case("a city and more", "words", f'{{"city": "B", "x": "{WORD}"}}', "schema",
         response_schema=_OWN),
    Case("ours and not theirs", "report", report(account_id=NUMBER), "schema", "/risk_level",
         response_schema={"properties": {"risk_level": {"const": "HIGH"}},
                          "additionalProperties": True}),
    Case("theirs and not ours", "spoken", f'["{WORD}"]', "schema",
         response_schema={"type": "array", "items": {"type": "string"}}),
]  # fmt: skip

_UNTRUE: list[tuple[str, str, dict[str, Any]]] = [
    ("ends before it begins", "/from", {"from": "2024-03-01", "to": "2024-02-29"}),
    ("later by its zone", "/from", {"from": "2024-01-01T00:00:00-01:00",
                                    "to": "2024-01-01T00:00:00Z"}),
    ("a day and a moment", "/from", {"from": "2024-01-01", "to": "2024-01-01T00:00:00Z"}),
    ("a day that never was", "/from", {"from": "2023-02-29", "to": "2023-03-01"}),
    ("a day in words", "/from", {"from": WORD, "to": "2024-01-01"}),
    ("high is low", "/high", {"low": 5, "high": 4}),
    ("high is as low", "/high", {"low": 5, "high": 5.0}),
    ("a share of less than nothing", "/share", {"share": -1e-300}),
    ("a share of all", "/share", {"share": 1}),
    ("a line's net over its gross", "/lines/1/net",
     {"lines": [{"net": 1, "gross": 2}, {"net": 2.01, "gross": 2}]}),
    ("a cent too little", "/total", {"total": 0.59, "lines": [{"gross": 0.1}, {"gross": 0.5}]}),
    ("just over the tolerance", "/total", {"total": 0.6050001, "lines": [{"gross": 0.6}]}),
    ("a total of nothing", "/total", {"total": 1, "lines": []}),
    ("a float's cents", "/exact", {"exact": 0.1 + 0.2, "parts": [0.1, 0.2]}),
    ("lost beside a large one", "/exact", {"exact": 1e16, "parts": [1e16, 1, -0.5]}),
    ("text among the parts", "/parts/1", {"exact": 1, "parts": [1, WORD]}),
    ("not the same", "/first", {"first": [1, {"a": WORD}], "again": [1, {"a": "x"}]}),
    ("true and 1", "/first", {"first": True, "again": 1}),
    ("text and number", "/first", {"first": "1", "again": 1}),
]  # fmt: skip
RELATIONS = [
    one("invoice", "relation", name, pointer, {**value, "note": WORD})
    for name, pointer, value in _UNTRUE
]

_TOWNS = [f"town {number}" for number in range(1000)]
REFERENCES = [
    one("report", "reference_unknown", "no such account", "/account_id", report(account_id=NUMBER)),
    one("fenced", "reference_unknown", "none in a fence", "/account_id",
        f"```\n{report(account_id=NUMBER)}\n```"),
    *(
        one("invoice", code, name, pointer, value)
        for code, name, pointer, value in [
            ("reference_unknown", "a name for an account", "/account", {"account": WORD}),
            ("reference_unknown", "a zero before it", "/account", {"account": "07", "note": WORD}),
            ("reference_unknown", "no account", "/account", {"account": "", "note": WORD}),
            ("reference_unknown", "an account for ever", "/account", {"account": WORD * 300}),
            ("reference_unknown", "one in a list", "/lines/1/account",
             {"lines": [{"account": 7}, {"account": NUMBER}]}),
            ("reference_unknown", "an unknown town", "/towns/1", {"towns": ["Bern", WORD]}),
            ("reference_unknown", "a town in capitals", "/towns/0", {"towns": ["BERN", WORD]}),
            ("reference_type", "true for an account", "/account", {"account": True, "note": WORD}),
            ("reference_type", "half an account", "/account", {"account": 7.5, "note": WORD}),
            ("reference_type", "an account in an object", "/account", {"account": {"id": WORD}}),
            ("reference_type", "accounts", "/account", {"account": [7], "note": WORD}),
            ("too_many_references", "a thousand towns and one", "", {"towns": [*_TOWNS, WORD]}),
            ("too_many_references", "all towns", "", {"towns": [*_TOWNS, "Bern"], "note": WORD}),
        ]
    ),
]  # fmt: skip

PROGRAMS = [
    Case(f"no {language}", "program", text, "code_syntax", language=language)
    for language, text in [
        ("python", f"def {WORD}(:\n    pass\n"),
        ("py", f"Sure! Here is the code for {WORD}."),
        ("javascript", f"function {WORD}( {{ return 1; }}"),
        ("typescript", f"const {WORD}: number = ;"),
        ("tsx", f"const {WORD} = <a;"),
        ("java", f"class {WORD} {{ int x = 1 }}"),
        ("go", f"package main\nfunc {WORD}() {{ x := }}\n"),
    ]
] + [
    Case("a fence with no go", "program", f"```go\npackage {WORD}\nfunc {{\n```", "code_syntax",
         language="go"),
    Case("a marker of a merge", "program", f"<<<<<<< {WORD}\nx = 1\n=======\n", "code_syntax"),
]  # fmt: skip

_SQUARE, _PAGE = png(WORD), f"<!DOCTYPE html><title>{WORD}</title>".encode()
IMAGES = [
    drawn("no image", "image_count"),
    drawn("no image of four", "image_count", model="pictures", n=4),
    drawn("one of two", "image_count", _SQUARE, n=2),
    drawn("two for one", "image_count", _SQUARE, png("other")),
    drawn("five for four", "image_count", *[png(f"{WORD} {n}") for n in range(5)], model="pictures",
          n=4),
    drawn("garbage", "image_header", WORD.encode() * 9),
    drawn("a page", "image_header", _PAGE),
    drawn("a page called an image", "image_header", Image(_PAGE, "image/jpeg")),
    drawn("a report in bytes", "image_header", report(account_id=NUMBER).encode()),
    drawn("one byte", "image_header", b"\x89"),
    drawn("a header cut off", "image_header", _SQUARE[:30]),
    drawn("a header damaged", "image_header", _SQUARE[:20] + b"\xff" + _SQUARE[21:]),
    drawn("no width", "image_header", png(WORD, 0, 64)),
    drawn("no height", "image_header", png(WORD, 64, 0)),
    drawn("no sides", "image_header", gif(0, 0)),
    drawn("png called jpeg", "image_type", Image(_SQUARE, "image/jpeg")),
    drawn("jpeg called png", "image_type", jpeg(64, 64)),
    drawn("gif called a page", "image_type", Image(gif(64, 64), f"text/{WORD}")),
    drawn("a square for a wide one", "image_size", _SQUARE, aspect_ratio="3:2"),
    drawn("tall for wide", "image_size", png(WORD, 1024, 1536), aspect_ratio="3:2"),
    drawn("hardly square", "image_size", png(WORD, 1000, 1021), aspect_ratio="1:1"),
    drawn("a pixel short", "image_size", png(WORD, 64, 63), size="64x64"),
    Case("the second is bad", "pictures", None, "image_header", "/images/1", params={"n": 2},
         images=(picture(), Image(WORD.encode(), "image/png"))),
]  # fmt: skip

BAD: list[Case] = [*TEXT, *NEARLY, *SCHEMA, *RELATIONS, *REFERENCES, *PROGRAMS, *IMAGES]
