"""How a checked answer lies in Redis: ages and provenance beside it, and proof that it is whole.

    tg2 <answered at, ms: 15 digits> <SHA-256 of job key and body> <body, packed if large>

The first line's fields have fixed places: `promote.lua` reads the time without reading the answer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from tidegate.doors import packed

FORMAT = "tg2"
"""Raise it when a reader of before could not read what is written now: to it, it is a miss."""


@dataclass(frozen=True, slots=True)
class Cached:
    """A checked answer: the job that holds it, the output, its ages (seconds since the epoch)."""

    job_id: str
    output: dict[str, Any]
    answered_at: float
    soft_until: float
    """Until then it is fresh; later it is served stale, and made anew."""
    hard_until: float
    made_by: dict[str, str] = field(default_factory=dict)
    """Model, its version, the vendor's model and the contract's version: who answered."""
    names: tuple[str, ...] = ()
    """Of the local variables in the code that was asked about, where it is found by structure."""

    def stale(self, now: float) -> bool:
        """Return whether it is to be made anew."""
        return self.soft_until <= now


def sealed(job_key: str, answer: Cached) -> str:
    """Return an answer as it is stored under a job key."""
    body = packed.as_text(json.dumps(asdict(answer), ensure_ascii=False, separators=(",", ":")))
    return f"{FORMAT} {_millis(answer)} {proof(job_key, body)} {body}"


def opened(job_key: str, stored: str) -> Cached | None:
    """Return the answer under a job key; None if it is not whole, or another key's."""
    form, _, rest = stored.partition(" ")
    at, _, rest = rest.partition(" ")
    given, _, body = rest.partition(" ")
    if form != FORMAT or given != proof(job_key, body):
        return None
    try:
        fields = json.loads(packed.from_text(body))
        answer = Cached(**{**fields, "names": tuple(fields["names"])})
        return answer if at == _millis(answer) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _millis(answer: Cached) -> str:
    return f"{round(answer.answered_at * 1000):015d}"


def proof(job_key: str, body: str) -> str:
    """Return what a stored body must begin with: that it is whole, and under its own key."""
    # What is damaged may be no text: see `encoding_errors` in doors/valkey.py.
    return sha256(f"{job_key}\n{body}".encode(errors="surrogateescape")).hexdigest()
