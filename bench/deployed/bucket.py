"""Emptying a key's quota at the vendor before a run.

LLMock's buckets hold a whole minute's quota at the start. Spent beforehand, what is granted in a
run is its steady rate alone, and whoever calls faster is refused at once, not after a minute.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import httpx

from cli.demo.crowd import side_by_side

WIDTH = 40
MODEL = "nobody-asks-for-this"
PROMPT = 40
"""Tokens of our own question, and a few more."""


@dataclass(frozen=True, slots=True)
class Level:
    """What was left of a key's quota, and when."""

    at: float
    """Seconds of the machine's monotonic clock."""
    left: int


def drained(vendor_url: str, key: str, *, in_tokens: bool) -> Level:
    """Spend a key's quota of requests or tokens down to next to nothing."""
    with httpx.Client(base_url=vendor_url, timeout=60, trust_env=False) as vendor:
        unit = "tokens" if in_tokens else "requests"
        level = _call(vendor, key, 1, unit)
        if in_tokens:
            return _call(vendor, key, max(1, level.left - PROMPT), unit)
        while level.left:
            # One more than are left: it is refilled meanwhile.
            calls = range(min(level.left + 1, WIDTH))
            levels = side_by_side(lambda _n: _call(vendor, key, 1, unit), calls, WIDTH)
            level = max(levels, key=lambda each: each.at)
        return level


def _call(vendor: httpx.Client, key: str, max_tokens: int, unit: str) -> Level:
    answer = vendor.post(
        "/v1/chat/completions",
        content=json.dumps({
            "model": MODEL, "messages": [{"role": "user", "content": "-"}],
            "max_tokens": max_tokens,
        }),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )  # fmt: skip
    return Level(time.monotonic(), int(answer.headers[f"x-ratelimit-remaining-{unit}"]))
