"""How many tokens a request may come to, as far as that can be told before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.rules.canonical import canonical
from tidegate.rules.catalogue import Entry

BYTES_PER_TOKEN = 2
"""Bytes of UTF-8 counted as one token. Byte-pair vocabularies come to about 4 for English and 2 to
3 for other scripts and code, so this errs high; what was reserved too much comes back."""

MESSAGE_TOKENS = 16
"""Tokens added for the wrapping of a request, which vendors count too."""


def input_tokens(entry: Entry, asked: Mapping[str, Any]) -> int:
    """Return the tokens a request's input comes to at most, as far as bytes can tell."""
    size = len(canonical(asked)) + len((entry.system or "").encode())
    return -(-size // BYTES_PER_TOKEN) + MESSAGE_TOKENS


def output_tokens(params: Mapping[str, Any]) -> int:
    """Return the tokens an answer may have at most."""
    return int(params.get("max_tokens", 0))


def call_tokens(entry: Entry, asked: Mapping[str, Any], params: Mapping[str, Any]) -> int:
    """Return the tokens of one call at most: what its pace reserves."""
    return input_tokens(entry, asked) + output_tokens(params)
