"""What a request's `Cache-Control` asks for (RFC 9111, section 5.2.1): tightens, never loosens.

What an answer may be at most (fresh, or stale until its hard end) is the operator's; a caller may
ask for less: younger, fresher, none at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_LARGEST = 2**31
"""Seconds: RFC 9111, section 1.2.2, has larger ones mean this."""


@dataclass(frozen=True, slots=True)
class Directives:
    """What a caller accepts of the cache. Seconds; `inf` is no bound."""

    read: bool = True
    """False for `no-cache` and `no-store`: no finished answer will do."""
    store: bool = True
    """False for `no-store`: the answer serves nobody else."""
    only_if_cached: bool = False
    max_age: float = math.inf
    min_fresh: float = -math.inf
    """How much freshness it must have left; from 0 on, a stale one will not do."""
    max_stale: float = math.inf
    """How long past its freshness an answer may be."""

    def accepts(self, answered_at: float, soft_until: float, now: float) -> bool:
        """Return whether an answer of these ages will do (seconds since the epoch)."""
        if not self.read or now - answered_at > self.max_age:
            return False
        if soft_until <= now:
            return self.min_fresh < 0 and now - soft_until <= self.max_stale
        return soft_until - now >= self.min_fresh

    def newer_than(self, now: float) -> float:
        """Return before when an answer must not have been made; 0 if that is no matter.

        With a bound but without an age it is the request itself: whether an answer is fresh enough
        cannot be told before its lives are known.
        """
        if not self.read:
            return now
        if self.max_age < math.inf:
            return now - self.max_age
        return now if self.min_fresh >= 0 or self.max_stale < math.inf else 0.0


def parse(values: Iterable[str]) -> Directives:
    """Return the directives in a request's header values. Unknown ones mean nothing.

    Said twice, the tighter one holds; an age that cannot be read is the tightest (section 4.2.1).
    """
    found: dict[str, list[str]] = {}
    for value in values:
        for part in value.split(","):
            name, _, argument = part.strip().partition("=")
            found.setdefault(name.strip().lower(), []).append(argument.strip().strip('"'))
    no_store = "no-store" in found
    max_age = min(map(_seconds, found.get("max-age", [])), default=math.inf)
    # With an age and no word of staleness, none is accepted (section 5.2.1.1).
    said = 0.0 if "max-age" in found else math.inf
    stale = [math.inf if not text else _seconds(text) for text in found.get("max-stale", [])]
    return Directives(
        read=not no_store and "no-cache" not in found,
        store=not no_store,
        only_if_cached="only-if-cached" in found,
        max_age=max_age,
        min_fresh=max(map(_fresh, found.get("min-fresh", [])), default=-math.inf),
        max_stale=min(stale, default=said),
    )


def _seconds(text: str, unreadable: float = 0.0) -> float:
    if not (text.isascii() and text.isdigit()):  # int() takes more than HTTP's digits
        return unreadable
    digits = text.lstrip("0") or "0"
    # int() refuses thousands of digits.
    return float(min(int(digits), _LARGEST) if len(digits) <= 10 else _LARGEST)


def _fresh(text: str) -> float:
    return _seconds(text, math.inf)
