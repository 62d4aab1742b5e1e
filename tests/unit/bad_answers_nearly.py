"""Bad answers that are nearly one strict JSON value, or one piece of code: what is beside it."""

from __future__ import annotations

from tests.unit.answer_cases import NUMBER, WORD, Case, bad, report
from tests.unit.bad_answers_text import FENCED, HALF

BOMB = 100_000
"""Brackets: any parser that goes down with each of them dies."""

NUMBERS = [
    *bad(
        "report",
        "not_a_number",
        ("NaN", report(account_id=NUMBER).replace("0.5", "NaN")),
        ("Infinity", report(account_id=NUMBER).replace("0.5", "Infinity")),
        ("minus Infinity", report(account_id=NUMBER).replace("0.5", "-Infinity")),
    ),
    *bad("value", "not_a_number", ("NaN in a list", f'["{WORD}", [NaN]]'), ("NaN alone", "NaN")),
    *bad(
        "report",
        "number_out_of_range",
        ("1e400", report(account_id=NUMBER).replace("0.5", "1e400")),
        ("minus 1e400", report(account_id=NUMBER).replace("0.5", "-1e400")),
        ("1e99999999", report(account_id=NUMBER).replace("0.5", "1e99999999")),
        ("2^53 and 1", report(account_id=9007199254740993)),
        ("2^53", report(account_id=9007199254740992)),
        ("twenty digits", report(account_id=73852952793126942533)),
        (
            "1.0000000000000001",
            report(account_id=NUMBER).replace(f"{NUMBER}", "1.0000000000000001"),
        ),
        ("7.0000000000000001e0", report(account_id=7).replace("7", "7.0000000000000001e0", 1)),
    ),
    *bad(
        "value",
        "number_out_of_range",
        ("a million digits and more", f'["{WORD}", ' + "9" * (11 * BOMB) + "]"),
        ("4301 digits", f'["{WORD}", -' + "1" * 4301 + "]"),
        ("a fraction that rounds to 2^53", f'["{WORD}", 9007199254740992.5]'),
    ),
]

DEEP = [
    *bad(
        "value",
        "too_deep",
        ("arrays", "[" * BOMB),
        ("arrays that close", "[" * BOMB + "]" * BOMB),
        ("objects", '{"a":' * BOMB),
        ("objects that close", '{"a":' * BOMB + "1" + "}" * BOMB),
        ("one level over", "[" * 65 + f'"{WORD}"' + "]" * 65),
    ),
    *bad("report", "too_deep", ("a report at the bottom", '{"a":[' * 33 + HALF + "]}" * 33)),
    *bad("fenced", "too_deep", ("a bomb in a fence", "```\n" + "[{" * 40 + "\n```")),
]

TRAILING = [
    *bad(
        "report",
        "trailing_text",
        ("thanks", f"{report()} Thank {WORD}!"),
        ("half a second value", report() + HALF[:-1]),
        ("a brace too many", report(account_id=NUMBER) + "}"),
        ("a semicolon", report(account_id=NUMBER) + ";"),
        ("a zero-width space at the end", report(account_id=NUMBER) + "\u200b"),
        ("an end token", report(account_id=NUMBER) + "<|im_end|>"),
    ),
    *bad(
        "report",
        "two_candidates",
        ("two reports", report() + report(account_id=NUMBER)),
        ("a report a line", f"{report()}\n{report(account_id=NUMBER)}\n"),
        ("a report and null", report(account_id=NUMBER) + "null"),
    ),
    *bad("value", "two_candidates", ("two numbers", f"1 {NUMBER}"), ("two lists", f"[][{NUMBER}]")),
]

DUPLICATES = [
    *bad(
        "report",
        "duplicate_member",
        ("twice, the second wrong", report()[:-1] + f', "risk_level": "{WORD}"}}'),
        ("twice, the first wrong", f'{{"account_id": {NUMBER}, ' + report()[1:]),
        ("twice the same", report(account_id=NUMBER)[:-1] + ', "risk_level": "LOW"}'),
        ("twice by an escape", report()[:-1] + f', "risk\\u005flevel": "{WORD}"}}'),
    ),
    *bad("value", "duplicate_member", ("twice below", f'[{{"a": [{{"b": 1, "b": "{WORD}"}}]}}]')),
    *bad(
        "fenced", "duplicate_member", ("twice in a fence", f'```\n{{"a": 1, "a": {NUMBER}}}\n```')
    ),
]

FENCES = [
    *bad(
        "report", "fence", ("a fence not allowed", FENCED), ("one of tildes", f"~~~\n{HALF}\n~~~")
    ),
    *bad(
        "fenced",
        "fence",
        ("not closed", f"```json\n{HALF}"),
        ("closed by fewer", f"````json\n{HALF}\n```"),
        ("closed by others", f"```json\n{HALF}\n~~~"),
        ("words before a fence", f"Here is {WORD}:\n{FENCED}"),
        ("words after a fence", f"{FENCED}\nI hope {WORD} helps."),
        ("of another language", f"```python\n{HALF}\n```"),
        ("on one line", f"```json {HALF}```"),
        ("only the end of one", f"{HALF[:-1]}\n```"),
    ),
    *bad(
        "fenced",
        "two_candidates",
        ("two fences", f"{FENCED}\n\n```json\n{HALF}\n```"),
        ("a fence and a value", f"{FENCED}\n{HALF}"),
        ("a fence within one", f"```\n{FENCED}\n```\n{WORD}"),
    ),
    *bad(
        "fenced",
        "invalid_json",
        ("inside", f"```\n{WORD}\n```"),
    ),
    *bad("fenced", "trailing_text", ("words inside", f"```\n{report()}\n{WORD}\n```")),
    *bad("program", "fence", ("prose and code", f"Here is {WORD}:\n```python\nx = 1\n```")),
    *bad("program", "fence", ("code and prose", f"```python\nx = 1\n```\nThis sets {WORD}.")),
    *bad("program", "fence", ("code not closed", f"```python\n{WORD} = 1\n")),
    *bad(
        "program", "two_candidates", ("two programs", f"```\nx = 1\n```\nor\n```\n{WORD} = 2\n```")
    ),
]

NEARLY: list[Case] = [*NUMBERS, *DEEP, *TRAILING, *DUPLICATES, *FENCES]
