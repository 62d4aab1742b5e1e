"""What is at hand for a request: a checked answer, the job at work, or a failure of just now.

One round trip asks Redis for everything: the epochs, the answer and the marks; and counts the post.
The epochs are guessed (what this process heard last); where the guess was wrong the look is
repeated. Where Redis has no answer DynamoDB is asked, and what it has is put back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidegate.clock import Clock
from tidegate.doors.answers import Answer
from tidegate.doors.cache import Cache, Look, Negative
from tidegate.doors.envelope import Cached
from tidegate.doors.epochs import EpochBook
from tidegate.doors.jobs import Jobs
from tidegate.doors.rate import Rate
from tidegate.doors.valkey import Script, Valkey, Values
from tidegate.flows.allow import Post
from tidegate.flows.asked import Asked
from tidegate.flows.only_helps import only_helps
from tidegate.rules.epochs import Epochs
from tidegate.rules.job import Job
from tidegate.rules.normalise import Bounded, renamed
from tidegate.telemetry import Telemetry

LOOKS = 3
"""How often a look is repeated because an operator has just declared answers void."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What a look reaches the world by."""

    valkey: Valkey
    cache: Cache
    epochs: EpochBook
    rate: Rate
    jobs: Jobs
    clock: Clock
    telemetry: Telemetry
    bounded: Bounded
    """Where code is read."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A usable answer."""

    answer: Cached
    own: bool = False
    """Whether its output is this request's own: another one's under other local names."""


def at_hand(
    asked: Asked, sent: Post, doors: Doors, now: float
) -> tuple[Asked, Hit | Job | Negative | None]:
    """Return the request with its names, and what is at hand for it.

    Raises:
        RateLimited: the partner's posts of this minute are used up.
    """
    asked, look, other = _look(asked, sent, doors, now)
    sent.admit()
    hit = _usable(asked, look.result, other, doors, now)
    if hit is not None:
        return asked, hit
    asked = _turned_down(asked, look.result, now)
    if not asked.directives.only_if_cached:  # DynamoDB may have an answer all the same
        found = at_work(asked, look.running, doors, now)
        if found is not None:
            return asked, found
    work = doors.jobs.work(asked.job_key, asked.partner)
    hit = _usable(asked, *_kept(asked, work.answer, doors, now), doors, now)
    if hit is None:
        asked = _turned_down(asked, work.answer, now)
        return asked, at_work(asked, work.running, doors, now) or _failure(asked, look, now)
    if not hit.own:
        with only_helps(doors.telemetry, asked.request.model):
            doors.cache.promote(asked.job_key, hit.answer, now)
    return asked, hit


def _look(asked: Asked, sent: Post, doors: Doors, now: float) -> tuple[Asked, Look, Cached | None]:
    """Return the request under today's epochs, what Redis has for it, and under its structure."""
    model, partner = asked.request.model, asked.partner
    asked = asked.under(doors.epochs.known(model, partner))
    with only_helps(doors.telemetry, model):
        for _ in range(LOOKS):
            epochs, look, other = _ask(asked, sent, doors, now)
            if epochs == asked.epochs:
                return asked, look, other
            asked = asked.under(epochs)
        return asked, Look(), None
    if not sent.counted:
        sent.heard(None)
    return asked.under(doors.epochs.read(model, partner)), Look(), None


def _ask(asked: Asked, sent: Post, doors: Doors, now: float) -> tuple[Epochs, Look, Cached | None]:
    model, partner = asked.request.model, asked.partner
    calls: list[Values | Script] = [
        doors.epochs.asking(model, partner),
        doors.cache.asking(asked.job_key),
    ]
    if asked.structure_key is not None:
        calls.append(doors.cache.asking(asked.structure_key))
    if not sent.counted:
        calls.append(sent.asking(doors.rate))
    replies = doors.valkey.together(calls)
    if not sent.counted:
        sent.heard(doors.rate.heard(sent.limit, replies[-1]))
    epochs = doors.epochs.heard(model, partner, replies[0])
    if epochs is None:
        epochs = doors.epochs.read(model, partner)
        doors.epochs.copy(model, partner, epochs)
    look = doors.cache.heard(asked.job_key, replies[1], now)
    other = None
    if asked.structure_key is not None:
        other = doors.cache.heard(asked.structure_key, replies[2], now).result
    return epochs, look, other


def _usable(
    asked: Asked, plain: Cached | None, other: Cached | None, doors: Doors, now: float
) -> Hit | None:
    """Return the answer to this request, or the one to its structure in this request's names."""
    if plain is not None and asked.accepts(plain, now):
        return Hit(plain)
    structure = asked.structure
    if other is None or structure is None or not asked.accepts(other, now):
        return None
    language = asked.request.body.input["language"]
    output = renamed(other.output, language, other.names, structure.names, bounded=doors.bounded)
    doors.telemetry.count("Renamed", model=asked.request.model, done=str(output is not None))
    if output is None:
        return None
    return Hit(replace(other, output=output, names=()), own=other.names != structure.names)


def _kept(
    asked: Asked, answer: Answer | None, doors: Doors, now: float
) -> tuple[Cached | None, Cached | None]:
    """Return what DynamoDB keeps for it, and for its structure: read only where it will do."""
    if answer is not None and asked.accepts(answer, now):
        return doors.jobs.kept(answer), None
    if asked.structure_key is not None and asked.reusable:
        other = doors.jobs.answer(asked.structure_key)
        if other is not None and asked.accepts(other, now):
            return None, doors.jobs.kept(other)
    return None, None


def _turned_down(asked: Asked, answer: Cached | Answer | None, now: float) -> Asked:
    """Return the request that knows which answer would not do; the youngest of them counts."""
    if answer is None or not asked.reusable or answer.hard_until <= now:
        return asked
    if asked.void(answer) or asked.accepts(answer, now):  # no wish of the caller's
        return asked
    known = asked.turned_down
    if known is not None and known.answered_at >= answer.answered_at:
        return asked
    return replace(asked, turned_down=answer)


def at_work(asked: Asked, job_id: str | None, doors: Doors, now: float) -> Job | None:
    """Return the job if it is at this work indeed, and in time: what Redis says is a hint."""
    job = None if job_id is None else doors.jobs.load(job_id)
    if job is None or job.done or job.deadline_at < now or not asked.is_for(job):
        return None
    return job


def _failure(asked: Asked, look: Look, now: float) -> Negative | None:
    """Return the failure of just now that stands for this work's next one, if one does."""
    known = look.negative
    if known is None or not known.holds(now) or not (asked.reusable and asked.directives.read):
        return None
    return known if asked.entry.cache.negative_ttl else None
