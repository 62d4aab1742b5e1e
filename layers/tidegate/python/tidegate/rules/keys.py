"""The names requests and work go by: claim, fingerprint, job key.

Each is a SHA-256 of canonical JSON, so no two different values can meet by concatenation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidegate.errors import IdempotencyKeyInvalid, IdempotencyKeyMissing
from tidegate.rules.canonical import sha256
from tidegate.rules.catalogue import Entry
from tidegate.rules.epochs import Epochs
from tidegate.rules.normalise import Bounded, normalised, unbounded
from tidegate.rules.request import JobRequest

if TYPE_CHECKING:
    from tidegate.rules.normalise import Structure

KEY_SCHEMA = 3
"""Version of the job key's make-up; raise it when its meaning changes."""

NOT_IN_JOB_KEY = frozenset({"priority", "deadline_seconds", "metadata"})
"""Fields of a body that do not change the answer. Everything else is in the key."""

RESOLVED = frozenset({"params", "input", "locale", "safety_profile"})
"""Fields of a body that stand in the key in their resolved form instead."""

NOT_IN_DEFINITION = frozenset(
    {
        # What a partner may send; what was sent, with defaults in place, is in the key itself.
        "parameters",
        "locales",
        "safety_profiles",
        "default_safety_profile",
        "max_input_bytes",
        # How and when it is run, and what becomes of the answer.
        "max_concurrency",
        "vendor_concurrency",
        "max_answer_bytes",
        "timeouts",
        "retry",
        "cache",
        "price",
        "pace",
        "breaker",
        "shares",
        "deadline",
    }
)
"""Keys of an entry that do not change an answer. Everything else is in the key."""

NOT_IN_OLD_FINGERPRINTS = frozenset({"locale", "safety_profile", "response_schema"})
"""Fields of a body that are younger than the claims there may be: where one is not sent it is left
out, or the retry of a request that was sent before the field came would be an altered body."""

_VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")


def idempotency_key(values: list[str]) -> str:
    """Return the one key in a request's header values.

    A pair of double quotes around it (the draft's structured-field string) is the same key.

    Raises:
        IdempotencyKeyMissing: there is none.
        IdempotencyKeyInvalid: empty, several, over 255 characters, or not visible ASCII.
    """
    if not values:
        raise IdempotencyKeyMissing(
            "send an Idempotency-Key header: one key per logical job, the same for all its retries"
        )
    if len(values) > 1:
        raise IdempotencyKeyInvalid("send exactly one Idempotency-Key header")
    key = values[0]
    if len(key) > 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not _VISIBLE.fullmatch(key):
        raise IdempotencyKeyInvalid("an Idempotency-Key is 1 to 255 visible ASCII characters")
    return key


def claim_id(partner: str, route: str, key: str) -> str:
    """Return the name of a partner's idempotency claim on a route; the key itself is not stored."""
    return sha256(["claim", partner, route, key])


def fingerprint(request: JobRequest) -> str:
    """Return what two requests under one Idempotency-Key must share: the whole validated body."""
    body = request.body.model_dump(mode="json")
    return sha256(
        {n: v for n, v in body.items() if v is not None or n not in NOT_IN_OLD_FINGERPRINTS}
    )


def reuses_finished(entry: Entry, params: Mapping[str, Any]) -> bool:
    """Return whether a finished answer may serve another request."""
    if entry.cache.reuse == "deterministic":
        return params.get("temperature") == 0 or "seed" in params
    return entry.cache.reuse == "always"


def joins(entry: Entry, stored: bool) -> bool:
    """Return whether the same request under another Idempotency-Key is the same work.

    `stored` is whether the partner lets its answer be kept.
    """
    return stored and entry.cache.join and entry.cache.reuse != "never"


def meaning(
    request: JobRequest,
    entry: Entry,
    *,
    partner: str,
    claim: str,
    now: float,
    stored: bool = True,
    bounded: Bounded = unbounded,
) -> dict[str, Any]:
    """Return all that the answer to a request depends on, as a JSON value.

    Two requests are the same work if, and only if, their meanings are equal. Where nothing is
    shared the claim is part of it, so that only retries meet.

    Args:
        request: the request, defaults resolved.
        entry: its model.
        partner: who asks; not in the meaning where the entry's answers are shared.
        claim: the partner's idempotency claim.
        now: seconds since the epoch, for an entry whose answers are of their time.
        stored: whether the partner lets the answer be kept.
        bounded: where code is read.
    """
    body = request.body.model_dump(mode="json")
    bucket = entry.cache.time_bucket
    return {
        "scope": "shared" if entry.cache.scope == "shared" else ["partner", partner],
        "entry": definition(entry),
        "body": {n: v for n, v in body.items() if n not in NOT_IN_JOB_KEY | RESOLVED},
        "resolved": request.model_dump(mode="json", exclude={"body"}),
        "input": normalised(
            body["input"],
            entry.normalise,
            ignore_comments=entry.ignore_comments,
            bounded=bounded,
        ),
        "names": "own",
        "time": None if bucket is None else [bucket, math.floor(now / bucket)],
        "claim": None if joins(entry, stored) else claim,
    }


def structural(meaning: Mapping[str, Any], structure: Structure) -> dict[str, Any]:
    """Return a meaning with the code's local names made canonical; it equals no plain one."""
    return {**meaning, "input": structure.input, "names": "canonical"}


def job_key(meaning: Mapping[str, Any], epochs: Epochs) -> str:
    """Return the name of the work: of its meaning since the last invalidation of its answers.

    What all partners share, no one partner's invalidation touches.
    """
    since = [epochs.model] if meaning["scope"] == "shared" else list(epochs)
    return sha256({"schema": KEY_SCHEMA, "meaning": meaning, "epochs": since})


def definition(entry: Entry) -> dict[str, Any]:
    """Return what of an entry shapes its answers; a change makes new keys."""
    return entry.model_dump(mode="json", by_alias=True, exclude=set(NOT_IN_DEFINITION))
