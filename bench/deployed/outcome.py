"""Situations in which a burst meets an answer that is not there or ends, and what comes of it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from bench.deployed.burst import Burst, most_calls, waits
from bench.deployed.rig import Rig
from tidegate.doors.ledger import Balance
from tidegate.rules.job import OPERATOR, Job, Status


@dataclass(frozen=True, slots=True)
class Situation:
    """When a burst comes, how the vendor is, and what it may come to. Times are seconds."""

    name: str
    thinking: float | None = None
    """How long the vendor takes; None: longer than a burst."""
    calls: int | None = 1
    """Of the vendor, at most; None: as many as remembered failures allow."""
    created: int | None = 1
    """Jobs made for posts; None: one for each call. More may be made: a post that looked a moment
    before a failure was remembered has a job, which ends by it without a call."""
    refreshed: int = 0
    """Jobs made for nobody that call the vendor. More may be made: a post that saw the stale answer
    a moment before the new one came begins another, which finds that one."""
    life: float | None = None
    """After which the answer that is there ends."""
    early: float = 0.0
    """By which the burst begins before that."""
    spread: float = 0.0
    """Over which posts are spread; 0: none waits."""
    reply: str | None = None
    """What the vendor answers, if not what it is asked for."""
    kills: bool = False
    """Whether the leader is killed."""
    ends: frozenset[Status] = frozenset({Status.COMPLETED})


@dataclass(frozen=True, slots=True)
class Books:
    """What was there before a burst."""

    jobs: Set[str]
    partner: Balance
    operator: Balance


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one burst."""

    situation: str
    posts: int
    answered: int
    """2xx."""
    fresh: int
    stale: int
    joined: int
    created: int
    led: int
    """Of these, those that called the vendor."""
    failed: int
    """Answered by a failure that is remembered."""
    repeated: int
    """Posts that a client had to send again."""
    refreshes: int
    """Jobs made for nobody."""
    refreshed: int
    """Of these, those that called the vendor; the others found the new answer there."""
    vendor_calls: int
    most_calls: int
    before: int
    """Posts sent before the vendor was first called."""
    amid: int
    """Posts sent while a call was with the vendor."""
    seconds: float
    """From the first post to the last answer."""
    longest: float
    """Seconds from a post to its job's end, at most."""
    partner_paid: int
    operator_paid: int
    """Micro-credits, by the balances."""
    wrong: list[str]
    """What is not as promised."""


def books(rig: Rig) -> Books:
    """Return what is there now."""
    ledger = rig.ledger()
    partner = ledger.balance(rig.info.partners[0].id)
    return Books(set(rig.jobs()), partner, ledger.balance(OPERATOR))


def outcome(
    rig: Rig, situation: Situation, burst: Burst, before: Books, negative_ttl: float
) -> Outcome:
    """Return the figures of a burst whose jobs have ended; `negative_ttl` is the entry's."""
    posts, counts, after = burst.posts, burst.counts(), books(rig)
    made = {j.id: j for j in rig.jobs().values() if j.id not in before.jobs}
    anew = [job for job in made.values() if job.partner == OPERATOR]
    calls = [call for call in rig.calls() if _is_of(call, burst)]
    first = min((call["started_at"] for call in calls), default=float("inf"))
    found = waits(posts, made)
    seconds = burst.ended - burst.begun
    leaders = {post.job_id for post in posts if post.kind == "created"}
    result = Outcome(
        situation=situation.name,
        posts=len(posts),
        answered=sum(200 <= post.status < 300 for post in posts),
        **{each: counts[each] for each in ("fresh", "stale", "joined", "created", "failed")},
        led=sum(made[job_id].starts > 0 for job_id in leaders & set(made)),
        repeated=sum(post.tries > 1 for post in posts),
        refreshes=len(anew),
        refreshed=sum(not job.from_cache for job in anew),
        vendor_calls=len(calls),
        most_calls=situation.calls or most_calls(seconds, negative_ttl),
        before=sum(post.begun < first for post in posts),
        amid=sum(any(c["started_at"] <= p.begun <= c["ended_at"] for c in calls) for p in posts),
        seconds=seconds,
        longest=max(found),
        partner_paid=after.partner.captured - before.partner.captured,
        operator_paid=after.operator.captured - before.operator.captured,
        wrong=[],
    )
    result.wrong.extend(_wrong(rig, situation, burst, result, made))
    return result


def _wrong(
    rig: Rig, situation: Situation, burst: Burst, found: Outcome, made: dict[str, Job]
) -> list[str]:
    told = {post.job_id for post in burst.posts}
    ours = [job for job in made.values() if job.partner != OPERATOR]
    anew = [job for job in made.values() if job.partner == OPERATOR]
    hits, price = found.fresh + found.stale, rig.stage.models[burst.body["model"]].price.cached
    leaders = {post.job_id for post in burst.posts if post.kind == "created"}
    led = sum(job.charged for job in ours if job.id in leaders)
    kinds = hits + found.joined + found.created + found.failed
    checks = {
        "not every post had an answer": found.answered == kinds == burst.size,
        "not every job has ended, or is there": found.longest < float("inf"),
        "jobs that no post was told of": {job.id for job in ours} == told,
        "jobs made for posts: too many, or too few": _as_many(situation, found),
        f"refreshes other than {situation.refreshed}": found.refreshed == situation.refreshed,
        f"no vendor call, or over {found.most_calls}": 0 < found.vendor_calls <= found.most_calls,
        "ends that are not this situation's": {job.status for job in ours} <= situation.ends,
        "not paid by the partner: hits and leader": found.partner_paid == hits * price + led,
        "not paid by the operator: refreshes": found.operator_paid == sum(j.charged for j in anew),
    }
    return [what for what, holds in checks.items() if not holds]


def _as_many(situation: Situation, found: Outcome) -> bool:
    if situation.created is None:
        return found.led == found.vendor_calls
    return found.created == situation.created


def _is_of(call: dict[str, Any], burst: Burst) -> bool:
    return burst.mark in str(call["body"]) and call["started_at"] >= burst.begun
