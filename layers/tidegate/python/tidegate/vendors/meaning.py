"""What a vendor's refusal means, by its own words: each adapter has a table of signs.

A status alone does not tell: an account without credit comes as 400, 402 or 429, and a 400 may be
about this request or about how every request is made.

A refusal may quote the request, and with it whatever a partner wrote. So an error's code or type
must be a sign's to the letter: no partner writes those. A message must begin as a sign does: what
a vendor quotes stands behind words of its own. Nothing read here is kept or logged.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from tidegate.vendors.envelope import at, label

Meaning = Literal["account", "refused", "passing"]
"""Our account is in trouble; this request is refused, as it would be again; it may pass."""

CLIENT_ERRORS = frozenset(range(400, 500))


@dataclass(frozen=True, slots=True)
class Sign:
    """One way in which a vendor says something; all of its parts must fit."""

    meaning: Meaning
    statuses: frozenset[int] = CLIENT_ERRORS
    names: frozenset[str] = frozenset()
    """Codes and types of the error, one of which must be there; none: it does not matter."""
    begins: re.Pattern[str] | None = None
    """What its message must begin with; None: it does not matter."""


Signs = tuple[Sign, ...]


def beginning(words: str) -> re.Pattern[str]:
    """Return the pattern of a message's beginning, as a regular expression; case is no matter."""
    return re.compile(rf"(?:{words})", re.IGNORECASE)


def meaning(status: int, body: bytes, signs: Signs) -> Meaning | None:
    """Return what a refusal means by the first sign that fits; None if none does.

    Args:
        status: of the response.
        body: its body, or its beginning; bounded by who reads it.
        signs: of the vendor.
    """
    names, message = _said(body)
    for sign in signs:
        if status not in sign.statuses or (sign.names and sign.names.isdisjoint(names)):
            continue
        # `match` looks at the beginning and nowhere else.
        if sign.begins is None or sign.begins.match(message):
            return sign.meaning
    return None


def _said(body: bytes) -> tuple[frozenset[str], str]:
    """Return the codes and types of an error, and its message; what is not there is empty."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return frozenset(), ""
    # Which of them holds it differs; another may be the status again.
    paths = (("code",), ("type",), ("details", "error_code"))
    names = {label(at(data, "error", *path)) for path in paths}
    message = at(data, "error", "message") or at(data, "message")  # the latter: Cohere's
    return frozenset(name for name in names if name), message if isinstance(message, str) else ""
