"""Accepting a request: one job per key, one run per work, or the answer at once.

claimed already   the same job as it is now; an altered body is refused
answer at hand    a finished job pointing at it, from Redis or from DynamoDB; made anew if stale
same work running the claim joins that job
just failed       a failed job that says so, where the entry remembers failures
else              claim, content claim, job, input and reservation in one transaction; then the
                  message. A crash between the two is repaired by the next try with the same key,
                  which sends the message again, or by the sweeper. That it did is noted on the
                  job: a client that insists fills no queue.
"""

from __future__ import annotations

from tidegate.doors.cache import Negative
from tidegate.doors.claims import Claim, Ended
from tidegate.errors import IdempotencyKeyReused, Unavailable
from tidegate.flows import allow
from tidegate.flows.acceptance import Accepted, Doors, instead, store
from tidegate.flows.allow import Post
from tidegate.flows.asked import Asked, ask
from tidegate.flows.at_hand import Hit, at_hand, at_work
from tidegate.flows.at_once import answered, not_cached, refused
from tidegate.flows.only_helps import only_helps
from tidegate.rules import keys
from tidegate.rules.catalogue import CODE, Catalogue
from tidegate.rules.directives import Directives
from tidegate.rules.job import Job
from tidegate.rules.request import JobRequest

TURNS = 5
"""How often a request is decided anew because another one changed what it found."""


def accept(
    request: JobRequest,
    catalogue: Catalogue,
    doors: Doors,
    sent: Post,
    *,
    directives: Directives,
    route: str,
    key: str,
    correlation_id: str,
) -> Accepted:
    """Return the job for a request; it is stored and on its way when this returns.

    Raises:
        RateLimited: the partner's posts of this minute, or those past the cache, are used up.
        IdempotencyKeyReused: the key was used with another body.
        NotCached: only a cached answer would do, and there is none.
        InsufficientCredits: the balance does not cover what the job may cost.
        NeverFits: one call would use more tokens than the model may in a minute.
        QueueFull: as many of the partner's jobs wait for the model as may.
        Unavailable: others kept changing the same items; the request may be sent again.
    """
    entry = catalogue.models[request.model]
    claim = keys.claim_id(sent.partner, route, key)
    doors.telemetry.bind(model=request.model, idempotency_key_hash=claim[:16])
    if entry.normalise in CODE and len(request.body.input["code"]) > allow.LARGE_CODE:
        allow.first(doors.look.rate, doors.telemetry, sent)
    asked = ask(
        request, entry, sent.partner, directives,
        claim=claim, token=doors.ids.token(), correlation_id=correlation_id,
        now=doors.clock.now(), most_bypasses=catalogue.partners.bypasses_per_minute,
        bounded=doors.look.bounded,
    )  # fmt: skip
    replacing: Ended | None = None
    for _ in range(TURNS):
        outcome = _decide(asked, sent, doors, replacing)
        replacing = None
        if isinstance(outcome, Claim):
            replacing, outcome = _replay(asked, doors, outcome)
        if outcome is not None:
            doors.telemetry.bind(job_id=outcome.job.id, attempt=outcome.job.attempt)
            doors.telemetry.count("Accepted", model=request.model, how=outcome.how)
            return outcome
    raise Unavailable("too many requests for the same work at this moment; send it again")


def _decide(
    asked: Asked, sent: Post, doors: Doors, replacing: Ended | None
) -> Accepted | Claim | None:
    """Return the outcome, the claim that stands in its way, or None if it must be decided anew.

    `replacing` is the ended job whose claim this request takes over.
    """
    now = doors.clock.now()
    asked, found = at_hand(asked, sent, doors.look, now)
    if isinstance(found, Hit):
        return answered(asked, doors, found, replacing, now)
    if asked.directives.only_if_cached:
        return not_cached(asked, doors, replacing)
    if isinstance(found, Negative):
        return refused(asked, doors, found, replacing, now)
    if found is not None:
        return _join(asked, doors, found, replacing, now)
    return _create(asked, doors, replacing, now)


def _join(
    asked: Asked, doors: Doors, job: Job, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    taken = doors.claims.join(
        job, asked.claim, asked.fingerprint, asked.token,
        now=now, replacing=replacing, newer_than=asked.newer_than(now),
    )  # fmt: skip
    return Accepted(job, "joined") if taken is None else taken.claim


def _create(
    asked: Asked, doors: Doors, replacing: Ended | None, now: float
) -> Accepted | Claim | None:
    job = asked.new_work(doors.ids.job_id(now), now)
    if asked.bypasses:
        look = doors.look
        allow.admit_bypass(look.rate, doors.telemetry, job, asked.claim, asked.most_bypasses)
    doors.waiting_room.enter(job, asked.entry)
    taken = store(asked, doors, job, replacing, now, doors.ledger.reserve(job, now))
    if taken is not None:
        running = at_work(asked, taken.running, doors.look, now)
        if running is not None:
            return _join(asked, doors, running, replacing, now)
        return instead(taken, job.reserved)
    doors.waiting_room.send(job)
    doors.telemetry.count("CacheMisses", model=job.model)
    with only_helps(doors.telemetry, job.model):
        doors.cache.mark_pending(job.job_key, job.id, job.deadline_at - now)
    return Accepted(job, "created", asked.request.body.metadata)


def _replay(asked: Asked, doors: Doors, claim: Claim) -> tuple[Ended | None, Accepted | None]:
    """Return the job a claim points at, or the ended job that a new one may replace."""
    job, now = doors.jobs.load(claim.job_id), doors.clock.now()
    if job is None:
        return Ended(claim.job_id, None), None
    if job.forgotten(now):
        return Ended(job.id, job.version), None
    if claim.fingerprint != asked.fingerprint:
        raise IdempotencyKeyReused(
            "this Idempotency-Key was used with altered payload parameters; "
            "use a new key for a new request"
        )
    if job.curable:
        return Ended(job.id, job.version), None
    # Its message may never have been sent; a second one is harmless, and hundreds are not.
    if job.may_resend(now) and doors.jobs.resend(job, asked.token, now):
        doors.waiting_room.send(job)
    return None, Accepted(job, "replayed")
