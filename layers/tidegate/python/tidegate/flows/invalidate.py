"""Declaring answers void: a new epoch in the job table, then a copy where requests look.

Nothing is deleted: job keys have the epoch in them, so answers of before are not found any more,
and end by their own lives.
"""

from __future__ import annotations

from typing import Any

from tidegate.doors.epochs import EpochBook
from tidegate.flows.only_helps import only_helps
from tidegate.rules.invalidate_request import InvalidateRequest
from tidegate.telemetry import ABSENT, Telemetry


def invalidate(
    request: InvalidateRequest, epochs: EpochBook, now: float, telemetry: Telemetry
) -> dict[str, Any]:
    """Return whose answers are void, since when, and whether every request knows (`seen`).

    Where Redis cannot be reached `seen` is false: copies of the epoch before may live a few minutes
    (`doors/epochs.py:LIFE`) in a Redis that comes back with what it knew.
    """
    whose = request.invalidate
    since = epochs.begin(whose.model, whose.partner, round(now * 1000), request.by, request.why)
    seen = False
    with only_helps(telemetry, whose.model or ABSENT):
        epochs.tell(whose.model, whose.partner, since)
        seen = True
    telemetry.bind(model=whose.model, partner=whose.partner)
    telemetry.warn("cache_invalidated", by=request.by, why=request.why, seen=seen)
    telemetry.count("Invalidations", model=whose.model or ABSENT)
    return {
        "model": whose.model,
        "partner": whose.partner,
        "since": since / 1000,
        "seen": seen,
    }
