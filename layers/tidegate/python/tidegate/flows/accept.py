"""Accepting a request: one job per key, one run per work, or the answer at once.

claimed already   the same job as it is now; an altered body is refused
answer at hand    a finished job pointing at it, from Redis or from DynamoDB
same work running the claim joins that job
else              claim, content claim, job, input and reservation in one transaction; then the
                  message. A crash between the two is repaired by the next try with the same key,
                  which sends the message again, or by the sweeper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tidegate.clock import Clock, Ids
from tidegate.doors.actions import Action
from tidegate.doors.cache import Cache, Cached
from tidegate.doors.claims import Claim, Claims, Ended, Taken
from tidegate.doors.jobs import Jobs
from tidegate.doors.ledger import Ledger
from tidegate.errors import IdempotencyKeyReused, InsufficientCredits, Unavailable
from tidegate.flows.asked import Asked, ask
from tidegate.flows.only_helps import only_helps
from tidegate.flows.waiting_room import WaitingRoom
from tidegate.rules import keys
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import Job, Status
from tidegate.rules.request import JobRequest
from tidegate.telemetry import Telemetry

How = Literal["created", "joined", "hit", "replayed"]

TURNS = 5
"""How often a request is decided anew because another one changed what it found."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What accepting reaches the world by."""

    jobs: Jobs
    claims: Claims
    ledger: Ledger
    cache: Cache
    waiting_room: WaitingRoom
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
    output: dict[str, Any] | None = None
    """Its output, if it was at hand."""


def accept(
    request: JobRequest,
    catalogue: Catalogue,
    doors: Doors,
    *,
    partner: str,
    route: str,
    key: str,
    correlation_id: str,
) -> Accepted:
    """Return the job for a request; it is stored and on its way when this returns.

    Raises:
        IdempotencyKeyReused: the key was used with another body.
        InsufficientCredits: the balance does not cover what the job may cost.
        NeverFits: one call would use more tokens than the model may in a minute.
        QueueFull: as many of the partner's jobs wait for the model as may.
        Unavailable: others kept changing the same items; the request may be sent again.
    """
    entry = catalogue.models[request.model]
    claim = keys.claim_id(partner, route, key)
    doors.telemetry.bind(model=request.model, idempotency_key_hash=claim[:16])
    asked = ask(request, entry, partner, claim, doors.ids.token(), correlation_id)
    replacing: Ended | None = None
    for _ in range(TURNS):
        outcome = _decide(asked, doors, replacing)
        replacing = None
        if isinstance(outcome, Claim):
            replacing, outcome = _replay(asked, doors, outcome)
        if outcome is not None:
            doors.telemetry.bind(job_id=outcome.job.id, attempt=outcome.job.attempt)
            doors.telemetry.count("Accepted", model=request.model, how=outcome.how)
            return outcome
    raise Unavailable("too many requests for the same work at this moment; send it again")


def _decide(asked: Asked, doors: Doors, replacing: Ended | None) -> Accepted | Claim | None:
    """Return the outcome, the claim that stands in its way, or None if it must be decided anew.

    `replacing` is the ended job whose claim this request takes over.
    """
    now = doors.clock.now()
    found = _at_hand(asked, doors, now)
    if isinstance(found, Cached):
        return _answer(asked, doors, found, replacing, now)
    if found is not None:
        return _join(asked, doors, found, replacing, now)
    return _create(asked, doors, replacing, now)


def _at_hand(asked: Asked, doors: Doors, now: float) -> Cached | Job | None:
    """Return a usable answer, or the job that is at this work: from Redis, else from DynamoDB."""
    with only_helps(doors.telemetry, asked.request.model):
        look = doors.cache.look(asked.job_key, now)
        found = look.result or _at_work(asked, doors, look.running, now)
        if found is not None:
            return found
    work = doors.jobs.work(asked.job_key, asked.partner)
    if work.answer is not None and work.answer.hard_until > now:
        output = doors.jobs.output(work.answer.job_id)
        if output is not None:
            answer = Cached(
                work.answer.job_id, output, work.answer.answered_at, work.answer.hard_until
            )
            with only_helps(doors.telemetry, asked.request.model):
                doors.cache.promote(asked.job_key, answer, now)
            return answer
    return _at_work(asked, doors, work.running, now)


def _at_work(asked: Asked, doors: Doors, job_id: str | None, now: float) -> Job | None:
    """Return the job if it is at this work indeed, and in time: what Redis says is a hint."""
    job = None if job_id is None else doors.jobs.load(job_id)
    if job is None or job.done or job.deadline_at < now or not asked.is_for(job):
        return None
    return job


def _answer(
    asked: Asked, doors: Doors, answer: Cached, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    finished = replace(
        asked.new_job(doors.ids.job_id(now), now),
        status=Status.COMPLETED,
        finished_at=now,
        cache_status="hit",
        answer_of=answer.job_id,
        answered_at=answer.answered_at,
        charged=asked.entry.price.cached,
    )
    charge = doors.ledger.charge(finished, now)
    taken = _store(asked, doors, finished, replacing, now, charge)
    if taken is None:
        doors.telemetry.count("CacheHits", model=finished.model)
        doors.telemetry.count("Charged", finished.charged, model=finished.model)
        return Accepted(finished, "hit", asked.request.body.metadata, answer.output)
    return _instead(taken, finished.charged)


def _join(
    asked: Asked, doors: Doors, job: Job, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    taken = doors.claims.join(
        job, asked.claim, asked.fingerprint, asked.token, now=now, replacing=replacing
    )
    return Accepted(job, "joined") if taken is None else taken.claim


def _create(
    asked: Asked, doors: Doors, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    job = asked.new_work(doors.ids.job_id(now), now)
    doors.waiting_room.enter(job, asked.entry)
    taken = _store(asked, doors, job, replacing, now, doors.ledger.reserve(job, now))
    if taken is not None:
        running = _at_work(asked, doors, taken.running, now)
        if running is not None:
            return _join(asked, doors, running, replacing, now)
        return _instead(taken, job.reserved)
    doors.waiting_room.send(job)
    doors.telemetry.count("CacheMisses", model=job.model)
    with only_helps(doors.telemetry, job.model):
        doors.cache.mark_pending(job.job_key, job.id, job.deadline_at - now)
    return Accepted(job, "created", asked.request.body.metadata)


def _instead(taken: Taken, price: int) -> Claim | None:
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


def _replay(asked: Asked, doors: Doors, claim: Claim) -> tuple[Ended | None, Accepted | None]:
    """Return the job a claim points at, or the ended job that a new one may replace."""
    job = doors.jobs.load(claim.job_id)
    if job is None:
        return Ended(claim.job_id, None), None
    if job.forgotten(doors.clock.now()):
        return Ended(job.id, job.version), None
    if claim.fingerprint != asked.fingerprint:
        raise IdempotencyKeyReused(
            "this Idempotency-Key was used with altered payload parameters; "
            "use a new key for a new request"
        )
    if job.curable:
        return Ended(job.id, job.version), None
    if job.untouched:  # its message may never have been sent; a second one is harmless
        doors.waiting_room.send(job)
    return None, Accepted(job, "replayed")


def _store(
    asked: Asked,
    doors: Doors,
    job: Job,
    replacing: Ended | None,
    now: float,
    effects: Sequence[Action],
) -> Taken | None:
    body = asked.request.body
    return doors.claims.create(
        job,
        asked.claim,
        {"input": body.input, "params": asked.request.params},
        body.metadata,
        now=now,
        replacing=replacing,
        effects=effects,
    )
