"""Whether a partner may post now: so many requests per minute, and so many past the cache.

Every post counts, whatever becomes of it: a refused one, and one that is sent again, cost a partner
what they cost us. Refused for the limit, a post stores nothing and uses up no key.

It is counted in the round trip that looks into the cache, which needs the key, and so comes after
the work of making it. Where that work could cost more than a round trip, the post is counted in one
of its own, before. One that ends before either is counted by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tidegate.clock import Ids
from tidegate.doors.rate import Allowance, Rate
from tidegate.doors.valkey import Script
from tidegate.errors import BypassLimited, RateLimited
from tidegate.flows.only_helps import only_helps
from tidegate.rules.job import Job
from tidegate.rules.pacing import MINUTE
from tidegate.telemetry import ABSENT, Telemetry


@dataclass(slots=True)
class Post:
    """One post of one partner, and what is known of the partner's allowance."""

    partner: str
    limit: int
    """Posts per minute."""
    name: str
    """Its own, so that no two posts are ever taken for one."""
    counted: bool = False
    allowance: Allowance | None = None
    """None before it is counted, and if Redis was out of reach: accepting goes on, and DynamoDB
    still holds every other promise."""

    def asking(self, rate: Rate) -> Script:
        """Return its counting, to be done in one round trip with others."""
        return rate.asking(self.partner, self.name, self.limit)

    def heard(self, allowance: Allowance | None) -> None:
        """Note what came of its counting."""
        self.counted, self.allowance = True, allowance

    def admit(self) -> None:
        """Return if it may go on.

        Raises:
            RateLimited: the minute's posts are used up.
        """
        if self.allowance is None or self.allowance.allowed:
            return
        seconds = until_next(self.allowance)
        raise RateLimited(
            f"your {self.limit} posts per minute are used up; send this again in {seconds} s",
            retry_after=seconds,
        )


def post(ids: Ids, partner: str, limit: int) -> Post:
    """Return a post that is not counted yet."""
    return Post(partner, limit, ids.token())


LARGE_BODY = 8 * 1024
"""Bytes of a body from which a post is counted before the body is parsed."""

LARGE_CODE = 250
"""Characters of code from which a post is counted before they are read. What reading costs grows
with the square of this: some 6 ms at the worst here, 100 at four times as many."""


def first(rate: Rate, telemetry: Telemetry, sent: Post) -> None:
    """Count a post, if it has not been, before work that is to be spared if it may not go on.

    Raises:
        RateLimited: the minute's posts are used up.
    """
    count(rate, telemetry, sent)
    sent.admit()


def count(rate: Rate, telemetry: Telemetry, sent: Post) -> None:
    """Count a post, if it has not been."""
    if sent.counted:
        return
    sent.heard(None)
    with only_helps(telemetry, ABSENT):  # no model may be known
        sent.heard(rate.take(sent.partner, sent.name, sent.limit))


def admit_bypass(rate: Rate, telemetry: Telemetry, job: Job, name: str, limit: int) -> None:
    """Return if a partner may have one more job although the cache could have answered.

    Raises:
        BypassLimited: the minute's are used up.
    """
    allowance = None
    with only_helps(telemetry, job.model):
        allowance = rate.take(job.partner, name, limit, "bypasses")
    telemetry.count("Bypasses", model=job.model)
    if allowance is not None and not allowance.allowed:
        seconds = until_next(allowance)
        raise BypassLimited(
            f"your {limit} requests per minute past the cache are used up; send this again in "
            f"{seconds} s, or without Cache-Control",
            retry_after=seconds,
        )


def until_next(allowance: Allowance) -> int:
    """Return the whole seconds, 1 to 60, after which a refused post may be sent again."""
    return min(max(math.ceil(allowance.wait), 1), round(MINUTE))
