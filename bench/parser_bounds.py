"""What reading code costs at the worst: random texts of each language's tokens, repeated.

Every text is read as the api reads a post and the worker an answer, each in a process of its own.
The parsers' cost has no formula; this looks for texts that break the bounds that are promised.
"""

from __future__ import annotations

import json
import math
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.results import written
from tidegate.doors.sandbox import Sandbox
from tidegate.rules.normalise import normalised, renamed, structured
from tidegate.rules.normalise.languages import GRAMMARS
from tidegate.rules.normalise.syntax import parses

MOST_SECONDS = 0.2
MOST_BYTES = 100_000_000
"""Promised for one text; processes on a busy machine have some 30 ms more."""

SIZES = (900, 1_100, 6_000, 60_000, 200_000)
"""Characters: below and above where the sandbox begins, up to the largest input."""

SHOWN = 20
_STATM = Path("/proc/self/statm")
_STATUS = Path("/proc/self/status")

_ALL = (
    """a 1 's' " ' { } ( ) [ ] : , ; . = == < > - + * ~ & | ^ ! @ # ... a( (a) a[ {} \u00e9 / \\"""
)
_BLANK = ("\n", "\t", " ", "\n  ", "\\\n", "\f", "\0", "\u0301", "/*", "*/", "//", "/**/")
_SCRIPT = """` ${ => ? ?. ?? ++ </ /> <a> </a> <> a=> (a)=> typeof void async await yield new let
var const function class extends import from export default if else for in of while do try catch
switch case return static get set"""
_TYPES = """interface type enum namespace declare as satisfies keyof infer is abstract public
readonly <A> A< a?: unknown"""
TOKENS = {
    "python": """''' f' f\" f''' := ** -> -= if elif else for in while def class lambda return yield
await async with as try except match case from import not and or is print del global 0x 1e *a **a
f( a:a""",
    "javascript": _SCRIPT,
    "typescript": f"{_SCRIPT} {_TYPES}",
    "tsx": f"{_SCRIPT} {_TYPES}",
    "java": '''""" -> => ? :: ++ A< A<A >> >>> @a (A)a class interface enum record new return yield
try catch switch case default import package int var final static extends super this throws
instanceof if else for while do void''',
    "go": """` := <- -> ++ []a [a] *a a{ func( if else for range func type struct interface return
go defer select switch case import package default map chan var const goto fallthrough""",
}
BEGINNINGS = {
    "python": ("", "x = ", "def f():\n  "),
    "javascript": ("", "x = ", "function f() { "),
    "typescript": ("", "x = ", "type A = "),
    "tsx": ("", "x = ", "type A = "),
    "java": ("", "class A { int a = ", "class A { void f() { "),
    "go": ("", "package m\n", "package m\nfunc f() {\n"),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What reading one text took: the larger of a post's and an answer's."""

    seconds: float
    """CPU time, of children too."""
    bytes: float
    """Memory at the peak, beyond what the process had before."""


ENDED = Cost(math.inf, math.inf)
"""The process that read the text ended by it."""


def cost(text: str, grammar: str) -> Cost | None:
    """Return what a text costs; None if the process that read it ended by it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, json.dumps(_measured(text, grammar)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return Cost(*json.loads(said)) if status == 0 else None


def _measured(text: str, grammar: str) -> tuple[float, int]:
    pages = [int(column) * resource.getpagesize() for column in _STATM.read_text().split()]
    # The limit is what is promised: who has more ends by it, and is told of as one that did.
    resource.setrlimit(resource.RLIMIT_DATA, (pages[5] + MOST_BYTES,) * 2)
    asked = {"instruction": "", "language": grammar, "code": text}
    sandbox = Sandbox()

    def post() -> None:
        structured(asked, ignore_comments=False, bounded=sandbox)
        normalised(asked, "code-structure", bounded=sandbox)

    def answer() -> None:
        renamed({"text": text}, grammar, ["a", "A"], ["A", "a"], bounded=sandbox)

    def gate() -> None:
        sandbox(parses, text, grammar)

    seconds = max(_timed(work) for work in (post, answer, gate))
    own = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return seconds, max(int(own.split()[1]), children) * 1024 - pages[1]


def _timed(work: Callable[[], None]) -> float:
    def used() -> float:
        both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(each.ru_utime + each.ru_stime for each in map(resource.getrusage, both))

    begun = used()
    work()
    return used() - begun


def texts(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield texts without end, each with its grammar and how it is made."""
    while True:
        grammar = chance.choice(sorted(GRAMMARS))
        tokens = [*_ALL.split(), *_BLANK, *TOKENS[grammar].split()]

        def fragment(tokens: list[str] = tokens) -> str:
            glue = chance.choice(["", " ", ""])
            return glue.join(chance.choices(tokens, k=chance.choice([1, 1, 2, 2, 3, 4, 6])))

        begin, size = chance.choice(BEGINNINGS[grammar]), chance.choice(SIZES)
        one, between, two = fragment(), "", ""
        if chance.random() < 0.4:
            between, two = chance.choice(["", fragment()]), fragment()
        count = max(1, size // len(one + two))
        made = f"{begin!r} + {one!r} * {count} + {between!r} + {two!r} * {count}"
        yield begin + one * count + between + two * count, grammar, made


def main(seconds: float, seed: int) -> int:
    """Search for so long; print and write the worst texts; return how many broke a bound."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    end = time.monotonic() + seconds
    found: list[tuple[Cost, str, int, str]] = []
    for text, grammar, made in texts(chance):
        if time.monotonic() > end:
            break
        measured = cost(text, grammar) or ENDED
        found.append((measured, grammar, len(text), made))
    console = Console()
    worst = {
        "CPU time": sorted(found, key=lambda row: -row[0].seconds)[:SHOWN],
        "memory": sorted(found, key=lambda row: -row[0].bytes)[:SHOWN],
    }
    for of, rows in worst.items():
        table = Table("ms", "MB", "language", "characters", "text", title=f"Worst by {of}")
        for each, grammar, length, made in rows:
            figures = (f"{each.seconds * 1000:.0f}", f"{each.bytes / 1e6:.1f}")
            table.add_row(*figures, grammar, str(length), made.encode("unicode_escape").decode())
        console.print(table)
    over = [
        row for row in found if row[0].seconds > MOST_SECONDS * 1.25 or row[0].bytes > MOST_BYTES
    ]
    console.print(f"{len(found)} texts of {len(GRAMMARS)} grammars, {len(over)} beyond the bounds")
    written(
        "parser_bounds",
        {
            "texts": len(found),
            "seed": seed,
            "beyond": len(over),
            "ended": sum(row[0] == ENDED for row in found),
            "worst_ms": [
                round(row[0].seconds * 1000) for row in worst["CPU time"] if row[0] != ENDED
            ],
            "worst_mb": [
                round(row[0].bytes / 1e6, 1) for row in worst["memory"] if row[0] != ENDED
            ],
        },
    )
    return len(over)


if __name__ == "__main__":
    sys.exit(main(*(float(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (300.0, 1)) > 0)
