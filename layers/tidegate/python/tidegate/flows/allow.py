"""Whether a partner may post now: so many requests per minute, whatever becomes of each.

A post is counted before anything of it is read, so that a refused one, and one that is sent again,
cost a partner what they cost us. Refused for the limit, it stores nothing and uses up no key.
"""

from __future__ import annotations

import math

from tidegate.clock import Ids
from tidegate.doors.rate import Allowance, Rate
from tidegate.errors import RateLimited
from tidegate.flows.only_helps import only_helps
from tidegate.rules.pacing import MINUTE
from tidegate.telemetry import ABSENT, Telemetry


def count(rate: Rate, ids: Ids, telemetry: Telemetry, partner: str, limit: int) -> Allowance | None:
    """Return what a partner has left of its `limit` per minute, this post counted.

    None if Redis is out of reach: accepting goes on, and DynamoDB still holds every other promise.
    """
    with only_helps(telemetry, ABSENT):  # no model is known yet
        # A name of its own, so that no two posts are ever taken for one.
        return rate.take(partner, ids.token(), limit)
    return None


def admit(allowance: Allowance | None) -> None:
    """Return if the post that was counted may go on.

    Raises:
        RateLimited: the minute's posts are used up.
    """
    if allowance is None or allowance.allowed:
        return
    seconds = until_next(allowance)
    raise RateLimited(
        f"your {allowance.limit} posts per minute are used up; send this again in {seconds} s",
        retry_after=seconds,
    )


def until_next(allowance: Allowance) -> int:
    """Return the whole seconds, 1 to 60, after which a refused post may be sent again."""
    return min(max(math.ceil(allowance.wait), 1), round(MINUTE))
