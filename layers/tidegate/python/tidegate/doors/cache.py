"""The result cache: checked answers under public keys, raw ones under a private key beside them.

Never the truth: whatever is lost here is still in DynamoDB, at the price of time or one extra call.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from tidegate.doors.valkey import Valkey, positive_millis

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Cached:
    """A checked answer: the job that holds it, the output, its ages (seconds since the epoch)."""

    job_id: str
    output: dict[str, Any]
    answered_at: float
    hard_until: float


@dataclass(frozen=True, slots=True)
class Staged:
    """A vendor's answer before the gate: a checkpoint for whoever takes the work over."""

    job_id: str
    text: str | None
    images: list[dict[str, str]]
    truncated: bool
    input_tokens: int
    output_tokens: int
    upstream_ms: int
    vendor_request_id: str | None
    answered_at: float
    expected_images: int = 0
    """How many were asked for: the gate needs no more of the request."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the cache says of a job key. `running` is a hint, to be verified on the job."""

    result: Cached | None
    running: str | None


class Cache:
    """Results, pending marks and staged answers by job key."""

    def __init__(self, valkey: Valkey) -> None:
        self._valkey = valkey

    def look(self, job_key: str, now: float) -> Look:
        """Return the answer and the pending mark in one round trip.

        Raises:
            CacheUnavailable: Redis is out of reach.
        """
        raw, running = self._valkey.get_many([_key(job_key, "result"), _key(job_key, "pending")])
        if raw is None:
            return Look(None, running)
        result = _cached(raw)
        if result is None:  # damaged: a miss, and gone
            self._valkey.delete(_key(job_key, "result"))
        elif result.hard_until <= now:
            result = None
        return Look(result, running)

    def mark_pending(self, job_key: str, job_id: str, seconds: float) -> None:
        """Leave a hint that a job is at it."""
        self._valkey.set(_key(job_key, "pending"), job_id, seconds)

    def stage(self, job_key: str, staged: Staged, seconds: float) -> None:
        """Put a raw answer under the private key."""
        self._valkey.set(_key(job_key, "stage"), json.dumps(asdict(staged)), seconds)

    def staged(self, job_key: str, job_id: str) -> Staged | None:
        """Return the raw answer that a job's earlier attempt left, if any."""
        raw = self._valkey.get(_key(job_key, "stage"))
        if raw is None:
            return None
        try:
            staged = Staged(**json.loads(raw))
        except (ValueError, TypeError):
            return None
        return staged if staged.job_id == job_id else None

    def unstage(self, job_key: str) -> None:
        """Remove a raw answer that did not pass."""
        self._valkey.delete(_key(job_key, "stage"))

    def promote(self, job_key: str, answer: Cached, now: float) -> None:
        """Make a checked answer public until its hard end, in one step."""
        life = answer.hard_until - now
        if life > 0:
            keys = [_key(job_key, name) for name in ("stage", "result", "pending")]
            self._valkey.run("promote", keys, [_envelope(answer), positive_millis(life)])


def _key(job_key: str, name: str) -> str:
    return f"tg:{{{job_key}}}:{name}"


def _envelope(answer: Cached) -> str:
    body = json.dumps(asdict(answer), sort_keys=True)
    return json.dumps({"format": FORMAT, "sha256": sha256(body.encode()).hexdigest(), "body": body})


def _cached(raw: str) -> Cached | None:
    """Return the answer in an envelope, or None if it is not whole."""
    try:
        envelope = json.loads(raw)
        body = envelope["body"]
        if envelope["format"] != FORMAT or envelope["sha256"] != sha256(body.encode()).hexdigest():
            return None
        return Cached(**json.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
