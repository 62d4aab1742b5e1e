"""How many tokens a request may come to, as far as that can be told before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.rules.canonical import canonical
from tidegate.rules.job import Usage

BYTES_PER_TOKEN = 2
"""Bytes of UTF-8 counted as one token. Byte-pair vocabularies come to about 4 for English and 2 to
3 for other scripts and code, so this errs high; what was reserved too much comes back."""

MESSAGE_TOKENS = 16
"""Tokens added for the wrapping of a request, which vendors count too."""


def at_most(
    system: str | None,
    asked: Mapping[str, Any],
    params: Mapping[str, Any],
    response_schema: Mapping[str, Any] | None = None,
) -> Usage:
    """Return the tokens one call may use: of input as far as bytes can tell, of output by limit.

    `system` is what the vendor is told before the input, `response_schema` what it is told besides.
    """
    size = len(canonical(asked)) + len((system or "").encode())
    size += len(canonical(response_schema)) if response_schema else 0
    return Usage(-(-size // BYTES_PER_TOKEN) + MESSAGE_TOKENS, int(params.get("max_tokens", 0)))
