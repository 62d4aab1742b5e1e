"""What accepting a request has at hand, what it comes to, and how a job of it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tidegate.clock import Clock, Ids
from tidegate.doors.actions import Action
from tidegate.doors.cache import Cache
from tidegate.doors.claims import Claim, Claims, Ended, Taken
from tidegate.doors.envelope import Cached
from tidegate.doors.jobs import Jobs
from tidegate.doors.ledger import Ledger
from tidegate.errors import InsufficientCredits
from tidegate.flows import at_hand, refresh
from tidegate.flows.asked import Asked
from tidegate.flows.waiting_room import WaitingRoom
from tidegate.rules.job import Job
from tidegate.telemetry import Telemetry

How = Literal["created", "joined", "hit", "refused", "replayed"]


@dataclass(frozen=True, slots=True)
class Doors:
    """What accepting reaches the world by."""

    jobs: Jobs
    claims: Claims
    ledger: Ledger
    cache: Cache
    waiting_room: WaitingRoom
    look: at_hand.Doors
    refresh: refresh.Doors
    clock: Clock
    ids: Ids
    telemetry: Telemetry


@dataclass(frozen=True, slots=True)
class Accepted:
    """The job that answers a request, how it was found, and what need not be read again."""

    job: Job
    how: How
    metadata: dict[str, str] | None = None
    """Its notes, if the job was made for this request."""
    answer: Cached | None = None
    """Its answer, if it was at hand."""


def store(
    asked: Asked,
    doors: Doors,
    job: Job,
    replacing: Ended | None,
    now: float,
    effects: Sequence[Action],
    output: dict[str, Any] | None = None,
) -> Taken | None:
    """Store a job of a request with its claims; return what is in its place, if anything is."""
    return doors.claims.create(
        job,
        asked.claim,
        asked.kept(),
        asked.request.body.metadata,
        now=now,
        replacing=replacing,
        effects=effects,
        output=output,
    )


def instead(taken: Taken, price: int) -> Claim | None:
    """Return the claim that stands in the way, or None if the request is to be decided anew.

    Raises:
        InsufficientCredits: neither a claim nor the same work is there, only too few credits.
    """
    if taken.short:
        raise InsufficientCredits(
            f"this job may cost {price} micro-credits and the balance does not cover it; "
            "GET /v1/usage shows it"
        )
    return taken.claim
