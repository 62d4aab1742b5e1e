"""Making a stale answer anew, in the background: one job of the operator's, at low priority.

A mark in Redis lets one of many requests begin; the claim on the work in DynamoDB is what makes it
one. After a failed refresh the mark stays for a while, so that a vendor in trouble is not asked
with every hit (RFC 5861 has the stale answer serve meanwhile).
"""

from __future__ import annotations

from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import Clock, Ids
from tidegate.doors.cache import Cache
from tidegate.doors.claims import Claims
from tidegate.doors.envelope import Cached
from tidegate.doors.ledger import Ledger
from tidegate.errors import TidegateError
from tidegate.flows.asked import Asked
from tidegate.flows.only_helps import only_helps
from tidegate.flows.waiting_room import WaitingRoom
from tidegate.rules.job import OPERATOR
from tidegate.telemetry import Telemetry

PAUSE = 300.0
"""Seconds after a refresh was begun in which no other is for the same stale answer."""

TURNS = 3
"""Tries to set the cost aside: other refreshes use the same account."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What a refresh reaches the world by."""

    cache: Cache
    claims: Claims
    ledger: Ledger
    waiting_room: WaitingRoom
    clock: Clock
    ids: Ids
    telemetry: Telemetry


def refresh(asked: Asked, stale: Cached, doors: Doors) -> None:
    """See to it that a stale answer is made anew, if nobody does so; whatever comes of it.

    The request that found it stale has its answer: trouble here is no trouble of its partner's.
    """
    first = False
    with only_helps(doors.telemetry, asked.request.model):
        first = doors.cache.begin_refresh(asked.job_key, stale, asked.token, PAUSE)
    if not first:
        return
    try:
        begun = _begin(asked, stale, doors)
    except (TidegateError, ClientError, BotoCoreError) as error:
        doors.telemetry.failed("refresh_not_begun", error)
        begun = False
    doors.telemetry.count("Refreshes", model=asked.request.model, begun=str(begun))


def _begin(asked: Asked, stale: Cached, doors: Doors) -> bool:
    """Return whether a job was made for it; False if one is at it."""
    now = doors.clock.now()
    job_id = doors.ids.job_id(now)
    ours = asked.anew(stale, job_id)
    job = ours.new_work(job_id, now)
    doors.waiting_room.enter(job, ours.entry)
    for _ in range(TURNS):
        taken = doors.claims.create(
            job, ours.claim, ours.kept(), {}, now=now, effects=doors.ledger.reserve(job, now)
        )
        if taken is None:
            doors.waiting_room.send(job)
            return True
        if not taken.short:
            return False
        # The operator's account is given what it needs. What a refresh costs less stays there for
        # the next; what they all cost is what the account has captured.
        doors.ledger.credit(OPERATOR, doors.ids.token(), job.reserved, now)
    return False
