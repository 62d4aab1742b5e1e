"""Paths into JSON values, as the catalogue writes them: a small part of JSONPath (RFC 9535).

`$` is the value itself; `.name` and `['any name']` lead to a member, `[0]` to an element, `[*]` to
every element, or every member's value. In quotes, `\\'` and `\\\\` stand for a quote and a
backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

MAX_STEPS = 20
MAX_CHARACTERS = 500
MAX_POINTER = 300
"""Characters of a pointer: an answer may have names of any length."""

EVERY: Final = None
"""The step `[*]`."""

Step = str | int | None
"""A member's name, an element's index, or `EVERY`."""

_STEP = re.compile(
    r"\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
    r"|\[(?:(?P<index>0|[1-9][0-9]*)|\*|'(?P<quoted>(?:[^'\\]|\\['\\])*)')\]"
)
_QUOTED_SO_FAR = re.compile(r"\['(?:[^'\\]|\\['\\])*")
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Path:
    """A path, by what it means: two spellings of one are equal."""

    steps: tuple[Step, ...]

    @property
    def many(self) -> bool:
        """Return whether it may lead to more than one place."""
        return EVERY in self.steps


@lru_cache(maxsize=512)
def parse(text: str) -> Path:
    """Return the path that `text` says.

    Raises:
        ValueError: it is none; says what is wrong at which character, counted from 0.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS} characters at character {MAX_CHARACTERS}")
    if not text.startswith("$"):
        raise ValueError("a path begins with $ at character 0")
    steps: list[Step] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise _wrong(text, at)
        if len(steps) == MAX_STEPS:
            raise ValueError(f"more than {MAX_STEPS} steps at character {at}")
        steps.append(_step(match))
        at = match.end()
    return Path(tuple(steps))


def shared(left: Path, right: Path) -> Path:
    """Return what both paths begin with, as far as its last `[*]`; without one, `$`.

    Of each place it leads to, both paths speak of that same element.
    """
    length = 0
    for number, (ours, theirs) in enumerate(zip(left.steps, right.steps, strict=False), 1):
        if ours != theirs:
            break
        if ours is EVERY:
            length = number
    return Path(left.steps[:length])


def rest(path: Path, beginning: Path) -> Path:
    """Return what of `path` comes after `beginning`, to be followed from where that leads."""
    return Path(path.steps[len(beginning.steps) :])


def found(path: Path, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the JSON pointer (RFC 6901, cut after 300 characters) and value of each place.

    A step that leads nowhere in a JSON value yields nothing. The time it takes is linear in the
    size of the value.
    """
    places: Iterator[tuple[str, Any]] = iter([("", value)])
    for step in path.steps:
        places = _below(places, step)
    return places


def _below(places: Iterator[tuple[str, Any]], step: Step) -> Iterator[tuple[str, Any]]:
    for pointer, value in places:
        if isinstance(value, dict):
            if step is EVERY:
                for name, member in value.items():
                    yield _pointer(pointer, name), member
            elif isinstance(step, str) and step in value:
                yield _pointer(pointer, step), value[step]
        elif isinstance(value, list):
            if step is EVERY:
                for index, item in enumerate(value):
                    yield f"{pointer}/{index}"[:MAX_POINTER], item
            elif isinstance(step, int) and step < len(value):
                yield f"{pointer}/{step}"[:MAX_POINTER], value[step]


def _pointer(above: str, name: str) -> str:
    # Cut at once: a long name above many elements would be copied for each of them.
    return f"{above}/{name.replace('~', '~0').replace('/', '~1')}"[:MAX_POINTER]


def _step(match: re.Match[str]) -> Step:
    if match["name"] is not None:
        return match["name"]
    if match["index"] is not None:
        return int(match["index"])
    if match["quoted"] is not None:
        return _ESCAPE.sub(r"\1", match["quoted"])
    return EVERY


def _wrong(text: str, at: int) -> ValueError:
    what = "a step begins with . or ["
    if text[at] == ".":
        what = "a dot without a plain name; write others as ['any name']"
    elif (quoted := _QUOTED_SO_FAR.match(text, at)) is not None:
        at = quoted.end()
        what = "a name in quotes that does not end with ']"
        if text.startswith("\\", at):
            what = "a backslash that is before neither a quote nor a backslash"
    elif text[at] == "[":
        what = "brackets that hold no index, * or name in quotes"
    return ValueError(f"{what} at character {at}")
