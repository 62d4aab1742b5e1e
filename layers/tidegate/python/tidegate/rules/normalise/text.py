"""Normalisation `text`: what never changes what is asked."""

from __future__ import annotations

import unicodedata


def text(value: str) -> str:
    """Return `value` in Unicode NFC, with LF line ends and without outer whitespace."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", lines).strip()
