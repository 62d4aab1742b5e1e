"""A model's pace for tests: an entry of any limits, callers, and all that Redis holds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.redis_time import pass_time
from tidegate.doors.pace import Caller, Pace
from tidegate.doors.valkey import Valkey
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Lane

MODEL = "m"
LIFE = 30.0
"""Seconds a caller lives, where that does not matter."""


def entry(places: int = 2, *, low: float = 0.25, **pace: Any) -> Entry:
    """Return an entry with so many places and these limits."""
    fields: dict[str, Any] = {
        "adapter": "openai-chat",
        "vendor": "openai",
        "vendor_model": "m",
        "task": "chat",
        "max_concurrency": max(2, places),
        "vendor_concurrency": places,
        "timeouts": {"read": 4, "total": 5},
        "parameters": {"max_tokens": {"type": "integer", "default": 100, "minimum": 1}},
        "pace": pace,
        "shares": {"low": low},
    }
    return Entry.model_validate(fields)


def pace(valkey: Valkey, places: int = 2, *, model: str = MODEL, **limits: Any) -> Pace:
    """Return a model's pace, its switch known to be on."""
    made = Pace(valkey, model, entry(places, **limits))
    made.switch(off=False, until=None, turned=False)
    return made


def caller(name: str, tokens: int = 0, *, partner: str = "acme", lane: Lane = "normal") -> Caller:
    """Return who asks for a slot, by the name of its reservation."""
    return Caller(name, f"job-{name}", partner, lane, tokens)


def near(seconds: float) -> Any:
    """Return what equals these seconds, less those a busy machine takes between two calls."""
    late = min(4, seconds / 4)
    return pytest.approx(seconds - late / 2, abs=late / 2 + 0.01)


def later(valkey: Valkey, seconds: float) -> None:
    """Let time pass in Redis."""
    valkey._do(lambda client: pass_time(client, seconds))


def kept(valkey: Valkey) -> dict[str, Any]:
    """Return every key with its value; that each has a life is checked."""
    found: dict[str, Any] = valkey._do(_everything)
    return found


def _everything(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in client.scan_iter("*"):
        kind = client.type(key)
        if kind == "hash":
            found[key] = client.hgetall(key)
        elif kind == "zset":
            found[key] = client.zrange(key, 0, -1, withscores=True)
        elif kind == "string":
            found[key] = client.get(key)
        assert kind == "none" or client.pttl(key) != -1, key
    return {key: value for key, value in found.items() if value}  # some have just ended
