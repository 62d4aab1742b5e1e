"""Why an answer failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Code = Literal[
    "truncated",
    "empty",
    "too_long",
    "bad_text",
    "invalid_json",
    "duplicate_member",
    "not_a_number",
    "number_out_of_range",
    "too_deep",
    "trailing_text",
    "fence",
    "two_candidates",
    "schema",
    "relation",
    "reference_unknown",
    "reference_type",
    "too_many_references",
    "code_syntax",
    "image_count",
    "image_header",
    "image_type",
    "image_size",
]
"""What can be wrong with an answer, by names that stay."""

CODES: frozenset[str] = frozenset(get_args(Code))

MAX_REASONS = 20
"""Enough to see what is wrong; a long array of wrong items repeats one mistake."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One of them; never quotes the answer."""

    code: str
    """One of `CODES`."""
    pointer: str
    """JSON pointer (RFC 6901) into the answer; empty for the whole of it."""
    message: str
