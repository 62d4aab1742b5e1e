"""A vendor's answer before the gate, as it lies in Redis: with proof that it is whole.

sg1 <SHA-256 of job key and body> <body, packed if large>
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from tidegate.doors import packed
from tidegate.doors.envelope import proof
from tidegate.rules.answer import Expected, Given
from tidegate.rules.picture import Delivered

FORMAT = "sg1"
"""Raise it when a reader of before could not read what is written now: to it, there is none."""


@dataclass(frozen=True, slots=True)
class StagedImage:
    """One image, in our bucket already, and what its bytes say of it."""

    key: str
    content_type: str
    declared: str | None = None
    kind: str | None = None
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Staged:
    """A vendor's answer before the gate: a checkpoint for whoever takes the work over."""

    job_id: str
    text: str | None = field(repr=False)
    images: tuple[StagedImage, ...]
    truncated: bool
    input_tokens: int
    output_tokens: int
    upstream_ms: int
    vendor_request_id: str | None
    answered_at: float
    expected: Expected = field(default_factory=Expected)
    """What of the request it is held against: the gate needs no more of it."""
    answered_by: str | None = None
    """The model that the vendor says it ran."""
    structure_key: str | None = None
    """Where it is found besides by the structure of the code that was asked about."""
    names: tuple[str, ...] = ()
    """Of that code's local variables."""
    usage_estimated: bool = False
    """Whether a count of tokens is ours, not the vendor's."""

    @property
    def given(self) -> Given:
        """Return it as the gate sees it."""
        images = (Delivered(i.declared, i.kind, i.width, i.height) for i in self.images)
        return Given(self.text, tuple(images), self.truncated)


def staged_of(fields: dict[str, Any]) -> Staged:
    """Return the staged answer in its fields, as `asdict` and JSON leave them.

    Raises:
        TypeError, KeyError: they are no staged answer's.
    """
    return Staged(
        **{
            **fields,
            "images": tuple(StagedImage(**each) for each in fields["images"]),
            "expected": Expected(**fields["expected"]),
            "names": tuple(fields["names"]),
        }
    )


def sealed_stage(job_key: str, staged: Staged) -> str:
    """Return a staged answer as it is stored under a job key."""
    body = packed.as_text(json.dumps(asdict(staged)))
    return f"{FORMAT} {proof(job_key, body)} {body}"


def opened_stage(job_key: str, stored: str) -> Staged | None:
    """Return the staged answer under a job key; None if it is not whole, or another key's."""
    form, _, rest = stored.partition(" ")
    given, _, body = rest.partition(" ")
    if form != FORMAT or given != proof(job_key, body):
        return None
    try:
        return staged_of(json.loads(packed.from_text(body)))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
