"""A file with the members of a reference set, one a line: read whole and checked before it counts.

Messages tell the line and never what is in it: members may be account numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.doors.references_dynamodb import LONGEST

MARK = b"\xef\xbb\xbf"
"""Which spreadsheets put before UTF-8."""


class Unusable(ValueError):
    """The file is none of a set; `str()` says in which line and why."""


@dataclass(frozen=True, slots=True)
class Members:
    """What a file says."""

    values: list[str]
    """Each once, in the file's order."""
    blank: int
    """Lines without anything."""
    doubles: int
    """Lines whose value was there before."""


def read(lines: Iterable[bytes]) -> Members:
    """Return the members in the lines of a file.

    Raises:
        Unusable: a line is no member's, or there is none at all.
    """
    values: dict[str, None] = {}
    blank = count = 0
    for count, line in enumerate(lines, 1):
        value = _value(line.removeprefix(MARK) if count == 1 else line, count)
        if value:
            values[value] = None
        else:
            blank += 1
    if not values:
        raise Unusable("there is no value in it: a set has one member at least")
    return Members(list(values), blank, count - blank - len(values))


def _value(line: bytes, number: int) -> str:
    """Return what a line says, without white space around it."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise Unusable(f"line {number} is not UTF-8") from None
    text = text.strip(" \t\r\n")
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise Unusable(f"line {number} has a control character")
    value = text.strip()
    if len(value.encode()) > LONGEST:
        raise Unusable(f"line {number} is longer than {LONGEST} bytes")
    return value
