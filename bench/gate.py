"""What the gate costs: CPU time for each answer, by size, and where it goes.

References are looked up in memory here: what DynamoDB or PostgreSQL take is no CPU of the gate's.
Beside it `json.loads`, which only parses, and pydantic's `validate_json` (strict), which parses and
holds the value against the same shape; it lets a member pass that is there twice, and knows neither
relations between places nor references.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.deployed.report import console, grid
from bench.gate_answers import CONTRACT, PEER, SCHEMA, SETS, bad, invoice, program, prose
from bench.results import written
from cli.local.stack import CATALOGUE, ENVIRONMENT
from tests.pictures import png
from tidegate.gate.contract import violations
from tidegate.gate.extract import json_value
from tidegate.gate.reason import MAX_REASONS
from tidegate.gate.relations import broken
from tidegate.gate.verdict import judge
from tidegate.rules import catalogue, picture
from tidegate.rules.answer import Expected, Given
from tidegate.rules.canonical import canonical
from tidegate.rules.catalogue import Entry
from tidegate.rules.contracts import AnswerChecks
from tidegate.rules.json_schema import compiled
from tidegate.rules.picture import Delivered
from tidegate.rules.response_schema import problem

SIZES = {"1 KB": 1_000, "100 KB": 100_000, "1 MB": 1_000_000}
"""Characters, of ASCII."""

ROUNDS = 15
SAMPLE = 0.005
"""Seconds of CPU that one sample takes at least: what is quicker is called often."""

STEPS = ("strict parse", "schema", "relations", "references", "written anew", "the rest")
WHOLE, BARE, PARSER, PYDANTIC = "judge", "judge without references", "json.loads", "pydantic"

GROWTH = "1 MB / 100 KB"
"""Ten is linear."""

Call = Callable[[], object]
Costs = dict[str, float]
"""Seconds of CPU, median, by what."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One kind of answer, judged at one size."""

    what: str
    size: str
    code: str | None
    """The first reason, None of an answer that passed."""
    expected: str | None
    cpu: float
    """Seconds, median."""


def medians(calls: Mapping[str, Call]) -> Costs:
    """Return the CPU time of each call; they take turns, so that all see the same machine."""
    times = {name: _enough(call) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            if times[name] > 1:  # what ran before has emptied the processor's caches of it
                call()
            samples[name].append(_each(call, times[name]))
    return {name: median(each) for name, each in samples.items()}


def _enough(call: Call) -> int:
    """Return how often to call in one sample; imports, and what is compiled once, are over then."""
    times = 1
    while _each(call, times) * times < SAMPLE:
        times *= 2
    return times


def _each(call: Call, times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begun) / times


def known(name: str, members: frozenset[str]) -> frozenset[str]:
    """Return which of these are members of a set."""
    return members & SETS[name]


def entries() -> dict[str, Entry]:
    """Return the catalogue's entries, with the contract and the checks of this bench."""
    models = catalogue.load(CATALOGUE, ENVIRONMENT).models
    chat, code = models["chat-mini"], models["code-command"]
    bare = CONTRACT.model_copy(update={"references": ()})
    parses = AnswerChecks(fenced=True, parses=True)
    return {
        "json": chat.model_copy(update={"contract": CONTRACT}),
        "bare": chat.model_copy(update={"contract": bare}),
        "text": chat,
        "code": code.model_copy(update={"answer": parses}),
        "image": models["image-studio"],
    }


def of_good(text: str, models: Mapping[str, Entry]) -> Costs:
    """Return what a good answer costs: as a whole, by step, and at the peers."""
    value = json_value(text, fenced=False)
    given = Given(text)
    found = medians({
        WHOLE: lambda: judge(models["json"], given, Expected(), known),
        BARE: lambda: judge(models["bare"], given, Expected(), known),
        "strict parse": lambda: json_value(text, fenced=False),
        "schema": lambda: violations(SCHEMA, value),
        "relations": lambda: broken(CONTRACT.relations, value, MAX_REASONS),
        "written anew": lambda: canonical(value),
        PARSER: lambda: json.loads(text),
        PYDANTIC: lambda: PEER.validate_json(text),
    })  # fmt: skip
    found["references"] = found[WHOLE] - found[BARE]
    found["the rest"] = found[WHOLE] - sum(found[step] for step in STEPS if step in found)
    return found


def judged(
    size: str, answers: Sequence[tuple[str, Given, str | None]], entry: Entry, expected: Expected
) -> list[Judged]:
    """Return what each answer costs and how it is judged; `answers` are what, it, and its code."""
    costs = medians({
        what: lambda given=given: judge(entry, given, expected, known)  # type: ignore[misc]
        for what, given, _code in answers
    })  # fmt: skip
    found = []
    for what, given, code in answers:
        reasons = judge(entry, given, expected, known).reasons
        found.append(Judged(what, size, reasons[0].code if reasons else None, code, costs[what]))
    return found


def schemas() -> Costs:
    """Return what a schema costs: new to the process, known to it, and a partner's at its post."""
    numbers = itertools.count()
    wide = {"type": "object", "properties": {f"part_{n}": SCHEMA for n in range(20)}}

    def new(schema: dict[str, Any]) -> Call:
        return lambda: compiled({**schema, "$comment": str(next(numbers))})

    return medians({
        "a schema that is new, compiled": new(SCHEMA),
        "one twenty times as large": new(wide),
        "one that is known, found": lambda: compiled(SCHEMA),
        "a partner's, before its job is accepted": lambda: problem(SCHEMA),
    })  # fmt: skip


def main() -> int:
    """Print and write the figures; return 1 if an answer was judged other than it must be."""
    models = entries()
    good: dict[str, Costs] = {}
    others: list[Judged] = []
    for size, characters in SIZES.items():
        console().print(f"  … {size}", style="dim")
        value = invoice(characters)
        good[size] = of_good(json.dumps(value), models)
        answers = [(what, Given(text), code) for what, text, code in bad(value)]
        whole = [("nothing", Given(json.dumps(value)), None)]
        others += judged(size, [*whole, *answers], models["json"], Expected())
        others += judged(
            size, [("text", Given(prose(characters)), None)], models["text"], Expected()
        )
        if size != "1 MB":  # more than is ever parsed
            code = [("code, parsed as Python", Given(program(characters)), None)]
            others += judged(size, code, models["code"], Expected(language="python"))
    content = png()
    header = _delivered(content)
    others += judged("1 KB", [("an image", Given(None, (header,)), None)], models["image"],
                     Expected(images=1, aspect_ratio="1:1"))  # fmt: skip
    reading = medians({"an image's header, read": lambda: _delivered(content)})
    once = schemas() | reading
    _show(good, others, once)
    written("gate", {
        "unit": "seconds of CPU, median", "rounds": ROUNDS, "good": good,
        "judged": [asdict(each) for each in others], "once": once,
    })  # fmt: skip
    wrong = [each for each in others if each.code != each.expected]
    for each in wrong:
        print(f"{each.what}, {each.size}: {each.code}, expected {each.expected}")
    return 1 if wrong else 0


def _delivered(content: bytes) -> Delivered:
    found = picture.read(content)
    if found is None:
        raise ValueError("the bench's own image is none")
    return Delivered("image/png", found.kind, found.width, found.height)


def _show(good: Mapping[str, Costs], others: Sequence[Judged], single: Costs) -> None:
    def row(name: str, value: Callable[[Costs], float]) -> tuple[str, ...]:
        figures = [value(each) for each in good.values()]
        return (name, *map(_ms, figures), _growth(figures))

    def ratio(name: str, value: Callable[[Costs], float]) -> tuple[str, ...]:
        return (name, *(f"{value(each):.1f}" for each in good.values()), "")

    columns = ("CPU, ms", *good, GROWTH)
    grid("A good answer in JSON", columns, [
        row("judge", lambda each: each[WHOLE]),
        *(row(f"  {step}", lambda each, step=step: each[step]) for step in STEPS),  # type: ignore[misc]
        row("json.loads", lambda each: each[PARSER]),
        row("pydantic, strict", lambda each: each[PYDANTIC]),
        ratio("judge / json.loads", lambda each: each[WHOLE] / each[PARSER]),
        ratio("judge / pydantic", lambda each: each[WHOLE] / each[PYDANTIC]),
        ratio("parse and schema / pydantic",
              lambda each: (each["strict parse"] + each["schema"]) / each[PYDANTIC]),
    ])  # fmt: skip
    whats = dict.fromkeys((each.what, each.code or "passes") for each in others)
    rows = []
    for what, code in whats:
        by_size = {each.size: each.cpu for each in others if each.what == what}
        shown = [_ms(by_size[size]) if size in by_size else "" for size in SIZES]
        rows.append((what, code, *shown, _growth([by_size[size] for size in by_size])))
    grid("What is wrong with it, or what it is", ("CPU, ms", "verdict", *SIZES, GROWTH), rows)
    grid("Besides", ("CPU, ms", ""), [(what, _ms(cost)) for what, cost in single.items()])


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3f}" if seconds < 0.001 else f"{seconds * 1000:.2f}"


def _growth(costs: Sequence[float]) -> str:
    """Return the last two costs' ratio, where there are three."""
    return f"{costs[2] / costs[1]:.1f}" if len(costs) == len(SIZES) and costs[1] > 0 else ""


if __name__ == "__main__":
    sys.exit(main())
