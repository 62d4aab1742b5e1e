"""Bad answers by what they are as text: cut off, empty, too long, unstorable, no one JSON value."""

from __future__ import annotations

import json

from tests.unit.answer_cases import NUMBER, WORD, Case, bad, report

FENCED = f"```json\n{report()}\n```"
HALF = report(risk_level=WORD)


CUT = [
    *bad(
        "report",
        "truncated",
        ("a whole report cut off", report(account_id=NUMBER)),
        ("half a report cut off", HALF[:40]),
        ("nothing cut off", ""),
        truncated=True,
    ),
    *bad("invoice", "truncated", ("a shorter list", '{"lines": [], "note": "x"}'), truncated=True),
    *bad("words", "truncated", ("a sentence cut off", f"{WORD} is whole."), truncated=True),
    *bad("program", "truncated", ("a program cut off", f"{WORD} = 1\n"), truncated=True),
    *bad("speech", "truncated", ("too long and cut off", WORD * 1000), truncated=True),
]

EMPTY = [
    *bad(
        "words",
        "empty",
        ("no words", ""),
        ("blank words", " \n\t\r\n "),
        ("nbsp", "\u00a0\u2003"),
        ("zero width", "\u200b\ufeff\u2060"),
    ),
    *bad("speech", "empty", ("no speech", ""), ("line separators", "\u2028\u2029")),
    *bad("report", "empty", ("no report", ""), ("a blank report", "\n")),
    *bad("program", "empty", ("no program", ""), ("an empty fence", "```python\n\n```")),
    *bad("value", "empty", ("a tab", "\t")),
]

TOO_LONG = [
    *bad(
        "words",
        "too_long",
        ("one character over", "x" * 194 + WORD),
        ("blank but one", " " * 999 + "x"),
    ),
    *bad("program", "too_long", ("a program over", f"{WORD} = 1\n" * 40)),
    *bad("invoice", "too_long", ("an invoice over", json.dumps({"note": WORD * 5000}))),
]

BAD_TEXT = [
    *bad(
        "words",
        "bad_text",
        ("nul in words", f"{WORD}\x00"),
        ("nul alone", "\x00"),
        ("high half in words", f"{WORD}\ud83d"),
        ("low half in words", f"\udcb2{WORD}"),
        ("halves in the wrong order", f"{WORD}\ude00\ud83d"),
    ),
    *bad("speech", "bad_text", ("halves apart", f"{WORD}\ud83d \ude00")),
    *bad("program", "bad_text", ("nul in a program", f"{WORD} = 1\x00")),
    *bad(
        "report",
        "bad_text",
        ("nul in a report", report(risk_level=f"{WORD}\x00").replace("\\u0000", "\x00")),
        ("nul escaped in a value", report(risk_level=f"{WORD}\x00")),
        ("nul escaped in a name", report(**{f"{WORD}\x00": 1})),
        ("high half escaped", report(risk_level=f"{WORD}\ud83d")),
        ("low half escaped", report(risk_level=f"\udcb2{WORD}")),
        ("half in a name", report(**{f"{WORD}\ud800": 1})),
    ),
    *bad("value", "bad_text", ("halves in two strings", f'["{WORD}\\ud83d", "\\ude00"]')),
    *bad("value", "bad_text", ("nul at depth", f'[[{{"a": ["{WORD}\\u0000"]}}]]')),
]

INVALID_JSON = [
    *bad(
        "report",
        "invalid_json",
        ("half a report", HALF[: HALF.index(WORD) + 7]),
        ("without the last brace", HALF[:-1]),
        ("a byte order mark first", "\ufeff" + HALF),
        ("a zero-width space first", "\u200b" + HALF),
        ("refusal", f"I cannot help with {WORD}."),
        ("sorry", f"I'm sorry, but as an AI model I cannot assess {WORD}."),
        ("words before", f"Here is {WORD}: {report()}"),
        ("html", f"<!DOCTYPE html><html><body><h1>502 {WORD}</h1></body></html>"),
        ("xml", f"<report><account_id>{NUMBER}</account_id></report>"),
        ("yaml", f"account_id: {NUMBER}\nrisk_level: LOW\n"),
        ("python literals", f"{{'account_id': {NUMBER}, 'anomaly_detected': False}}"),
        ("True", report(account_id=NUMBER).replace("false", "True")),
        ("None", report(account_id=NUMBER).replace("false", "None")),
        ("undefined", report(account_id=NUMBER).replace("false", "undefined")),
        ("names without quotes", f"{{account_id: {NUMBER}}}"),
        ("a comma at the end", f'{{"account_id": {NUMBER},}}'),
        ("a comma too many", f'{{"account_id": {NUMBER},, "risk_level": "LOW"}}'),
        ("a comment", f'{{"account_id": {NUMBER} // the account\n}}'),
        ("a line break in a string", f'{{"risk_level": "LOW\n{WORD}"}}'),
        ("a bell in a string", f'{{"risk_level": "\x07{WORD}"}}'),
        ("an escape that is none", f'{{"risk_level": "\\x41{WORD}"}}'),
        ("half an escape", f'{{"risk_level": "{WORD}\\u12"}}'),
        ("a leading zero", report(account_id=NUMBER).replace(str(NUMBER), f"0{NUMBER}")),
        ("a plus", report(account_id=NUMBER).replace(str(NUMBER), f"+{NUMBER}")),
        ("hexadecimal", report(account_id=NUMBER).replace(str(NUMBER), "0x2dec2d7")),
        ("underscores", report(account_id=NUMBER).replace(str(NUMBER), "48_151_623")),
        ("a bare point", report(account_id=NUMBER).replace("0.5", ".5")),
        ("a point at the end", report(account_id=NUMBER).replace("0.5", "1.")),
        ("digits of another script", report(account_id=NUMBER).replace("0.5", "\u0661")),
        ("typographic quotes", f"{{\u201crisk_level\u201d: \u201c{WORD}\u201d}}"),
        ("one backtick", f"`{HALF}`"),
        ("nan in lower case", report(account_id=NUMBER).replace("0.5", "nan")),
        ("data frames", f"data: {HALF}\n\n"),
    ),
    *bad("spoken", "invalid_json", ("words where JSON was due", f"Hello {WORD}.")),
    *bad(
        "words",
        "invalid_json",
        ("words where the partner wants JSON", f"Hello {WORD}."),
        response_schema={"type": "object"},
    ),
]

TEXT: list[Case] = [*CUT, *EMPTY, *TOO_LONG, *BAD_TEXT, *INVALID_JSON]
