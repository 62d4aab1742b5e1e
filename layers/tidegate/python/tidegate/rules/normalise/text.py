"""Normalisation `text`: what never changes what is asked."""

from __future__ import annotations

import unicodedata

MOST_MARKS = 30
"""Marks (characters of a combining class) in a row, as in the Stream-Safe Text Format of Unicode
(UAX #15, section 13). Putting more of them in order takes the square of their number."""


def text(value: str) -> str:
    """Return `value` in Unicode NFC, with LF line ends and without outer whitespace.

    One with more than `MOST_MARKS` in a row stays as it is written, but for the line ends and the
    whitespace: nobody's language has such text, and it may be equal to its own repeats alone.
    """
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    if not lines.isascii() and not _piled(lines):
        lines = unicodedata.normalize("NFC", lines)
    return lines.strip()


def _piled(value: str) -> bool:
    """Return whether there are too many marks in a row; takes the time of its length."""
    # Three characters of Tibetan are of no class, but are put in order as the marks they are of.
    marks = {
        each for each in set(value) if unicodedata.combining(unicodedata.normalize("NFD", each)[0])
    }
    if not marks:
        return False
    run = 0
    for each in value:
        run = run + 1 if each in marks else 0
        if run > MOST_MARKS:
            return True
    return False
