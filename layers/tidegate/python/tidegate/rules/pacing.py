"""How fast a model may be used, how it is shared, and what its limits ask of its workers.

The rules are here; `doors/pace.py` and `doors/line.py` hold the fleet to them, in Redis.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from tidegate.rules.strict import Strict

MINUTE = 60.0
"""Seconds."""

MOST_PER_MINUTE = 1_000_000
"""Posts of one partner: a limit above is none, and its share of a minute too short to be kept."""

SPARE = 1.5
"""How many times over its quota a model's places may reach before somebody is told."""

WELL_USED = 0.95
"""Share of a quota that the places must be able to use."""


class Pace(Strict):
    """The vendor's limits, as the fleet keeps them. Without a limit there is none."""

    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    tokens_counted: Literal["used", "reserved"] = "used"
    """What the vendor's own token limit counts in the end: what a call used, or what it asked for
    (input and `max_tokens`), used or not."""
    burst: float = Field(default=1.0, ge=0, le=MINUTE)
    """Seconds' worth of a limit that may be used at once. Vendors count over a second or so
    besides the minute (help.openai.com/articles/5955604)."""
    horizon: float = Field(default=5.0, ge=0, le=60)
    """Seconds a worker waits for its slot at most; a longer wait is a deferral."""
    expected_latency: float | None = Field(default=None, gt=0)
    """Seconds of a usual call."""
    expected_tokens: int | None = Field(default=None, ge=1)
    """Tokens of a usual call."""

    def cost(self, tokens: int, places: int) -> float:
        """Return the seconds of the model's time that one more call takes, others waiting."""
        seconds = (self.expected_latency or 1.0) / places
        if self.requests_per_minute is not None:
            seconds = max(seconds, MINUTE / self.requests_per_minute)
        if self.tokens_per_minute is not None:
            seconds = max(seconds, tokens * MINUTE / self.tokens_per_minute)
        return seconds

    def calls_per_minute(self) -> float | None:
        """Return the calls of usual size that the limits allow in a minute; None: no limit."""
        limits: list[float] = []
        if self.requests_per_minute is not None:
            limits.append(self.requests_per_minute)
        if self.tokens_per_minute is not None and self.expected_tokens is not None:
            limits.append(self.tokens_per_minute / self.expected_tokens)
        return min(limits, default=None)

    def mismatch(self, places: int) -> str | None:
        """Return what is wrong between the limits and `places` calls in flight, or None.

        Little's law (Operations Research 9:3, 1961): calls in flight = calls per second x seconds
        of a call.
        """
        allowed = self.calls_per_minute()
        if allowed is None or self.expected_latency is None:
            return None
        reach = places * MINUTE / self.expected_latency
        needed = allowed / MINUTE * self.expected_latency
        calls = f"calls of {self.expected_latency:g} s"
        if reach < WELL_USED * allowed:
            return (
                f"{places} {calls} at once make {reach:.0f} a minute: they cannot use a quota of "
                f"{allowed:.0f}, which takes {needed:.1f} at once"
            )
        if places > 1 and reach > SPARE * allowed:
            return (
                f"{places} {calls} at once would make {reach:.0f} a minute and must exceed a quota "
                f"of {allowed:.0f}, which {max(needed, 1):.1f} at once use up: the others only wait"
            )
        return None


class Breaker(Strict):
    """Circuit breaker: when a vendor's failures are an outage, and not a job's own trouble.

    A window of the last calls, as in Resilience4j (resilience4j.readme.io/docs/circuitbreaker); a
    job counts once in it, so that one that always fails closes a model to nobody.
    """

    failures: int = Field(default=5, ge=1, le=100)
    """Jobs that must have failed at least."""
    calls: int = Field(default=10, ge=1, le=100)
    """Last calls that are looked at, each of another job."""
    share: float = Field(default=0.6, gt=0, le=1)
    """Of these, how many must have failed."""
    window: float = Field(default=120.0, gt=0, le=3600)
    """Seconds a call is remembered."""

    @model_validator(mode="after")
    def _can_open(self) -> Breaker:
        if self.failures > self.calls:
            raise ValueError("failures must not be over calls: the breaker could never open")
        return self


class Shares(Strict):
    """How a model's capacity is shared."""

    partner: float = Field(default=0.5, gt=0, le=1)
    """Of the calls in flight, what one partner may hold while others wait; lent out meanwhile."""
    low: float = Field(default=0.25, gt=0, le=1)
    """Of the calls in flight and of the requests per minute, what `priority: low` may use."""
    queued: int = Field(default=20_000, ge=1)
    """Jobs of one partner that may wait at once; the next post is refused."""


class PartnerLimits(Strict):
    """What every partner may do, unless its own record says otherwise."""

    requests_per_minute: int = Field(default=6000, ge=1, le=MOST_PER_MINUTE)
    """Jobs posted, the refused and the repeated included."""
    bypasses_per_minute: int = Field(default=60, ge=1, le=MOST_PER_MINUTE)
    """Of these, asked past the cache although an answer may have been there."""


def share_of(places: int, share: float) -> int:
    """Return how many of `places` a share is: never none."""
    return max(1, int(places * share))
