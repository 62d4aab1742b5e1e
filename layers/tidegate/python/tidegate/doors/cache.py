"""The result cache: checked answers under public keys, raw ones under a private key beside them.

Never the truth: whatever is lost here is still in DynamoDB, at the price of time or one extra call.

tg:{<job key>}:result    a checked answer (doors/envelope.py)
               pending   the job that is at it: a hint, to be verified on the job
               negative  that the work failed for good lately, and how
               refresh   which stale answer is made anew, or was to be a moment ago
               stage     a raw answer; no public path reads it
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tidegate.doors.envelope import Cached, opened, sealed
from tidegate.doors.staged import Staged, opened_stage, sealed_stage
from tidegate.doors.valkey import Valkey, Values, positive_millis
from tidegate.rules.job import JobError

_LOOKED_AT = ("result", "pending", "negative")

REMEMBERED = 600.0
"""Seconds a failure is remembered, after it holds no more, to double the next one's life."""


@dataclass(frozen=True, slots=True)
class Negative:
    """That a piece of work failed for good: not tried again before `until`."""

    error: JobError
    made_at: float
    until: float
    strikes: int
    """How often in a row."""

    def holds(self, now: float) -> bool:
        """Return whether it keeps the work from being tried; `now` may have been read before it."""
        return self.until > max(now, self.made_at)


@dataclass(frozen=True, slots=True)
class Look:
    """What the cache says of a job key. `running` is a hint, to be verified on the job."""

    result: Cached | None = None
    running: str | None = None
    negative: Negative | None = None


class Cache:
    """Results, marks and staged answers by job key."""

    def __init__(self, valkey: Valkey) -> None:
        self._valkey = valkey

    def asking(self, job_key: str) -> Values:
        """Return the question of a look, to be asked in one round trip with others."""
        return Values(tuple(_key(job_key, name) for name in _LOOKED_AT))

    def heard(self, job_key: str, replies: Sequence[str | None], now: float) -> Look:
        """Return what the replies to a look say; a damaged answer is a miss, and removed.

        Raises:
            CacheUnavailable: Redis is out of reach.
        """
        raw, running, failed = replies
        if running is not None and not running.isascii():  # damaged: no job is called so
            running = None
        negative = None if failed is None else _negative(failed)
        if raw is None:
            return Look(None, running, negative)
        result = opened(job_key, raw)
        if result is None:
            self._valkey.run("remove_if", [_key(job_key, "result")], [raw])
        elif result.hard_until <= now:
            result = None
        return Look(result, running, negative)

    def look(self, job_key: str, now: float) -> Look:
        """Return what the cache says of a job key, in one round trip.

        Raises:
            CacheUnavailable: Redis is out of reach.
        """
        return self.heard(job_key, self._valkey.get_many(self.asking(job_key).keys), now)

    def mark_pending(self, job_key: str, job_id: str, seconds: float) -> None:
        """Leave a hint that a job is at it."""
        self._valkey.set(_key(job_key, "pending"), job_id, seconds)

    def begin_refresh(self, job_key: str, stale: Cached, token: str, seconds: float) -> bool:
        """Return whether nobody else makes this answer anew, nor tried to in the last `seconds`.

        `token` is the caller's own, to know its mark by where the first reply was lost.
        """
        at, life = round(stale.answered_at * 1000), positive_millis(seconds)
        return bool(
            self._valkey.run("refresh_begin", [_key(job_key, "refresh")], [token, at, life])
        )

    def refuse(self, job_key: str, negative: Negative, now: float) -> None:
        """Remember that the work failed for good."""
        life = max(negative.until - now, 0.0) + REMEMBERED
        self._valkey.set(_key(job_key, "negative"), json.dumps(asdict(negative)), life)

    def stage(self, job_key: str, staged: Staged, seconds: float) -> None:
        """Put a raw answer under the private key."""
        self._valkey.set(_key(job_key, "stage"), sealed_stage(job_key, staged), seconds)

    def staged(self, job_key: str) -> Staged | None:
        """Return the raw answer that an attempt at this work left, whole, whichever job's it is."""
        raw = self._valkey.get(_key(job_key, "stage"))
        return None if raw is None else opened_stage(job_key, raw)

    def unstage(self, job_key: str) -> None:
        """Remove a raw answer that did not pass."""
        self._valkey.delete(_key(job_key, "stage"))

    def promote(self, job_key: str, answer: Cached, now: float) -> None:
        """Make a checked answer public until its hard end, in one step; never over a newer one."""
        life = answer.hard_until - now
        if life > 0:
            names = ("stage", "result", "pending", "negative")
            keys = [_key(job_key, name) for name in names]
            at = round(answer.answered_at * 1000)
            args: tuple[str | int, ...] = (sealed(job_key, answer), positive_millis(life), at)
            self._valkey.run("promote", keys, args)


def _key(job_key: str, name: str) -> str:
    return f"tg:{{{job_key}}}:{name}"


def _negative(raw: str) -> Negative | None:
    try:
        fields = json.loads(raw)
        return Negative(**{**fields, "error": JobError(**fields["error"])})
    except (ValueError, TypeError, KeyError):
        return None
