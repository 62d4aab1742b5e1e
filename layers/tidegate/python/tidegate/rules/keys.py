"""The names requests and work go by: claim, fingerprint, job key.

Each is a SHA-256 of canonical JSON, so no two different values can meet by concatenation.
"""

from __future__ import annotations

import re
from typing import Any

from tidegate.errors import IdempotencyKeyInvalid, IdempotencyKeyMissing
from tidegate.rules.canonical import sha256
from tidegate.rules.catalogue import Entry
from tidegate.rules.normalise import normalised
from tidegate.rules.request import JobRequest

KEY_SCHEMA = 1
"""Version of the job key's make-up; raise it when its meaning changes."""

NOT_IN_JOB_KEY = frozenset({"priority", "deadline_seconds", "metadata"})
"""Fields of a body that do not change the answer. Everything else is in the key."""

RESOLVED = frozenset({"params", "input"})
"""Fields that stand in the key in their resolved form instead."""

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
    return sha256(request.body.model_dump(mode="json"))


def reuses_finished(entry: Entry, params: dict[str, Any]) -> bool:
    """Return whether a finished answer may serve another request."""
    if entry.cache.reuse == "deterministic":
        return params.get("temperature") == 0 or "seed" in params
    return entry.cache.reuse == "always"


def job_key(request: JobRequest, entry: Entry, *, partner: str, claim: str) -> str:
    """Return the name of the work itself.

    Where finished answers are not reused the claim is part of it, so that only retries meet.
    """
    fields = request.body.model_dump(mode="json")
    rest = {n: v for n, v in fields.items() if n not in NOT_IN_JOB_KEY | RESOLVED}
    return sha256(
        {
            "schema": KEY_SCHEMA,
            "scope": "shared" if entry.cache.scope == "shared" else ["partner", partner],
            "entry": definition(entry),
            "task": request.task,
            "request": rest,
            "input": normalised(request.body.input, entry.normalise),
            "params": request.params,
            "claim": None if reuses_finished(entry, request.params) else claim,
        }
    )


def definition(entry: Entry) -> dict[str, Any]:
    """Return what of an entry shapes its answers; a change makes new keys."""
    return entry.model_dump(
        mode="json",
        by_alias=True,
        include={"adapter", "vendor", "vendor_model", "version", "system", "normalise", "contract"},
    )
