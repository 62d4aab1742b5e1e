"""What becomes of a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Acknowledge a message, with another one sent in its place or not, or hand it back."""

    hand_back_after: float | None = None
    """Seconds until it comes again; None if it is acknowledged."""
    again_after: float | None = None
    """Seconds until a new message comes in its place, which burns no receive; None: none does."""


ACKNOWLEDGED = Outcome()
HAND_BACK = Outcome(0.0)
"""At once: each return burns a receive, until the redrive policy moves the message to the DLQ."""
