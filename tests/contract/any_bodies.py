"""Bodies of vendors' answers: garbage, nearly right reports, right envelopes around anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

from tests.unit.answer_cases import REPORT
from tests.unit.vendor_wire import anthropic, openai

Place = tuple[str | int, ...]

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
NEARLY = st.sampled_from([7, 7.0, 1, 0, "7", True, False, 0.5, 1.5, "LOW", "low", None, 4711, 8])
ENDS = st.sampled_from(
    ["stop", "length", "end_turn", "max_tokens", "tool_calls", "refusal", "", "x"]
)
TOKENS = st.binary(max_size=4) | st.sampled_from(
    [b'"', b"{", b"}", b"[" * 70, b",", b"NaN", b"1e999", b"\\u0000", b"\\ud83d", b"0", b"null",
     b"\xff", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"```", b"\n", b'"error": 1,', b'"choices": [],']
)  # fmt: skip
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), TOKENS), min_size=1, max_size=3)


WORDS_OF_ENDS: list[Place] = [
    ("choices", 0, "finish_reason"),
    ("choices", 0, "message", "refusal"),
    ("stop_reason",),
    ("error",),
]
"""Places where one vendor or the other says that its answer is none, or not whole."""


def changed(raw: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """Return bytes of which some are cut out and others put in."""
    for place, cut, put in changes:
        at = int(place * len(raw))
        raw = raw[:at] + put + raw[at + cut :]
    return raw


def wrapped(kind: Callable[..., dict[str, Any]]) -> Callable[[str], bytes]:
    """Return what puts a text into a vendor's envelope."""
    if kind is openai:
        return lambda text: json.dumps(openai(text)).encode()
    return lambda text: json.dumps(anthropic({"type": "text", "text": text})).encode()


def places(value: Any, path: Place = ()) -> list[Place]:
    """Return every place in a value, the whole of it first."""
    inside: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(place for name, each in inside for place in places(each, (*path, name)))]


def put(body: bytes, place: Place, value: Any) -> bytes:
    """Return an envelope with a value in a place."""
    holder = {"": json.loads(body)}
    at: Any = holder
    *way, last = ("", *place)
    for step in way:
        at = at[step]
    at[last] = value
    return json.dumps(holder[""]).encode()


def doubled(raw: bytes, number: int, name: str, value: Any) -> bytes:
    """Return JSON with a member more at the beginning of one of its objects."""
    objects = [at for at, byte in enumerate(raw) if byte == ord("{")]
    at = objects[number % len(objects)] + 1
    return raw[:at] + json.dumps({name: value})[1:-1].encode() + b", " + raw[at:]


@st.composite
def values(draw: st.DrawFn) -> Any:
    """Return any JSON value, or one that might be right."""
    return draw(draw(st.sampled_from([ANY, NEARLY, ENDS])))


@st.composite
def texts(draw: st.DrawFn, right: str) -> str:
    """Return what a model might say in place of a right report."""
    names = st.sampled_from([*REPORT, "more"])
    match draw(st.sampled_from(["text", "value", "report", "report", "changed", "doubled"])):
        case "text":
            return draw(st.text(st.characters(), max_size=40))
        case "value":
            return json.dumps(draw(ANY))
        case "report":
            return right.replace(
                json.dumps(REPORT), json.dumps({**REPORT, draw(names): draw(values())})
            )
        case "changed":
            return changed(right.encode(), draw(CHANGES)).decode(errors="surrogateescape")
    return doubled(right.encode(), 0, draw(names), draw(values())).decode()


@st.composite
def bodies(draw: st.DrawFn, kind: Callable[..., dict[str, Any]], fence: str) -> bytes:
    """Return the body of a vendor's answer: garbage, nearly right, or right around anything."""
    wrap, right = wrapped(kind), f"{fence}{json.dumps(REPORT)}{fence[::-1]}"
    whole = wrap(right)
    match draw(st.sampled_from(["bytes", "changed", "text", "text", "placed", "ended", "doubled"])):
        case "bytes":
            return draw(st.binary(max_size=60))
        case "changed":
            return changed(whole, draw(CHANGES))
        case "text":
            return wrap(draw(texts(right)))
        case "placed":
            return put(whole, draw(st.sampled_from(places(json.loads(whole)))), draw(values()))
        case "ended":
            where = WORDS_OF_ENDS if kind is openai else WORDS_OF_ENDS[2:]
            return put(whole, draw(st.sampled_from(where)), draw(ENDS))
    names = st.sampled_from(["error", "choices", "message", "content", "finish_reason", "more"])
    return doubled(whole, draw(st.integers(0, 9)), draw(names), draw(values()))


RIGHT = wrapped(openai)(json.dumps(REPORT))
"""A right report."""

BODIES = st.tuples(st.just("report"), bodies(openai, "")) | st.tuples(
    st.just("fenced"), bodies(anthropic, "```\n")
)
"""Models of the tables (tests/unit/answer_cases.py), and what their vendors answer."""
