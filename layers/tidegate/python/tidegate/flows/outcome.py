"""What becomes of a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Acknowledge a message, or hand it back."""

    hand_back_after: float | None
    """Seconds until it comes again; None if it is acknowledged."""


ACKNOWLEDGED = Outcome(None)
HAND_BACK = Outcome(0.0)
"""At once: each return burns a receive, until the redrive policy moves the message to the DLQ."""
