"""Answers that need no work: an answer at hand, or a failure of just now, as a finished job."""

from __future__ import annotations

from dataclasses import replace

from tidegate.doors.cache import Negative
from tidegate.doors.claims import Claim, Ended
from tidegate.errors import NotCached
from tidegate.flows.acceptance import Accepted, Doors, instead, store
from tidegate.flows.asked import Asked
from tidegate.flows.at_hand import Hit
from tidegate.flows.only_helps import only_helps
from tidegate.flows.refresh import refresh
from tidegate.rules.job import Status


def answered(
    asked: Asked, doors: Doors, hit: Hit, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    """Answer with a finished job; an answer that is stale is made anew besides."""
    answer = hit.answer
    job_id = doors.ids.job_id(now)
    finished = replace(
        asked.new_job(job_id, now),
        status=Status.COMPLETED,
        finished_at=now,
        cache_status="stale" if answer.stale(now) else "hit",
        answer_of=job_id if hit.own else answer.job_id,
        answered_at=answer.answered_at,
        charged=asked.entry.price.cached,
    )
    charge = doors.ledger.charge(finished, now)
    output = answer.output if hit.own else None
    taken = store(asked, doors, finished, replacing, now, charge, output)
    if taken is not None:
        return instead(taken, finished.charged)
    doors.telemetry.count("CacheHits", model=finished.model)
    doors.telemetry.count("Charged", finished.charged, model=finished.model)
    if hit.own:  # under its own names it is found as it is, next time
        with only_helps(doors.telemetry, finished.model):
            doors.cache.promote(asked.job_key, replace(answer, job_id=job_id), now)
    if answer.stale(now):
        refresh(asked, answer, doors.refresh)
    return Accepted(finished, "hit", asked.request.body.metadata, answer)


def not_cached(asked: Asked, doors: Doors, replacing: Ended | None) -> Claim:
    """Return the claim whose job answers this request all the same: it was sent before.

    Raises:
        NotCached: there is none.
    """
    claim = None if replacing is not None else doors.claims.find(asked.claim)
    if claim is None:
        raise NotCached("no answer that would do is in the cache; send it without only-if-cached")
    return claim


def refused(
    asked: Asked, doors: Doors, known: Negative, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    """Answer with a failed job: this work failed for good a moment ago, and nothing has changed."""
    failed = replace(
        asked.new_job(doors.ids.job_id(now), now),
        status=Status.FAILED,
        error=known.error,
        finished_at=now,
        cache_status="negative",
    )
    taken = store(asked, doors, failed, replacing, now, ())
    if taken is not None:
        return instead(taken, 0)
    doors.telemetry.count("NegativeHits", model=failed.model)
    return Accepted(failed, "refused", asked.request.body.metadata)
