"""What partners are told of their limit: RateLimit fields, Retry-After, and what is read of it."""

from __future__ import annotations

import json
import math
import re

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from hypothesis import example, given
from hypothesis import strategies as st

from api import incoming, problem
from api.allowance import fields
from tidegate.doors.rate import Allowance
from tidegate.errors import QueueFull, RateLimited
from tidegate.flows.allow import Post
from tidegate.rules.pacing import MOST_PER_MINUTE, PartnerLimits

LIMITS = st.integers(1, MOST_PER_MINUTE)
WAITS = st.floats(0, 60.001)


def item(field: str) -> tuple[str, dict[str, int]]:
    """Return a structured field's only item: a string with integers as parameters (RFC 9651)."""
    whole = re.fullmatch(r'"([a-z]+)"((?:;[a-z]+=(?:0|[1-9]\d{0,14}))*)', field)
    assert whole is not None, field
    pairs = [pair.split("=") for pair in whole[2].split(";")[1:]]
    return whole[1], {name: int(value) for name, value in pairs}


@given(st.booleans(), LIMITS, st.data(), WAITS)
@example(allowed=False, limit=1, data=None, wait=60.001)
def test_the_fields_are_whole_numbers_within_the_limit_and_the_minute(
    allowed: bool, limit: int, data: st.DataObject | None, wait: float
) -> None:
    left = 0 if data is None else data.draw(st.integers(0, limit))
    told = fields(Allowance(allowed, limit, left, wait))
    assert item(told["RateLimit-Policy"]) == ("requests", {"q": limit, "w": 60})
    name, now = item(told["RateLimit"])
    assert (name, set(now)) == ("requests", {"r", "t"})
    assert 0 <= now["r"] <= limit
    assert 1 <= now["t"] <= 60
    # Whoever spreads what is left over that time keeps to the limit's own pace.
    assert now["r"] / now["t"] <= limit / 60 + 1e-9


@given(LIMITS, WAITS)
def test_a_refusal_asks_to_wait_no_less_than_needed_and_as_its_fields_say(
    limit: int, wait: float
) -> None:
    refused = Allowance(False, limit, 0, wait)
    with pytest.raises(RateLimited) as raised:
        Post("acme", limit, "p", True, refused).admit()
    assert min(math.ceil(wait), 60) <= raised.value.retry_after <= 60
    assert item(fields(refused)["RateLimit"])[1] == {"r": 0, "t": raised.value.retry_after}


def test_who_may_post_or_was_not_counted_goes_on() -> None:
    Post("acme", 1, "p", True, Allowance(True, 1, 0, 60.0)).admit()
    Post("acme", 1, "p", True, None).admit()


@pytest.mark.parametrize(
    ("error", "code", "seconds"),
    [
        (RateLimited("too many", retry_after=7), "rate_limited", "7"),
        (QueueFull("full", retry_after=30), "queue_full", "30"),
    ],
)
def test_a_429_says_when_to_come_back_and_that_it_may(
    error: RateLimited, code: str, seconds: str
) -> None:
    answer = problem.response(error, "req-1")
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == seconds
    assert answer.headers["x-should-retry"] == "true"
    body = json.loads(answer.body or "")
    assert (body["title"], body["code"], body["retryable"]) == ("Too many requests", code, True)


@pytest.mark.parametrize(
    ("context", "limit"),
    [
        ("600", 600),
        ("1", 1),
        ("999999999", MOST_PER_MINUTE),
        ("0", None),
        ("-5", None),
        ("0600", None),
        ("6e2", None),
        ("600 ", None),
        ("٦٠٠", None),
        ("9" * 40, None),
        ("", None),
        (600, None),
        (True, None),
        (None, None),
    ],
)
def test_a_limit_is_read_as_it_was_written_or_not_at_all(
    context: object, limit: int | None
) -> None:
    authorizer = {"partner": "acme", "requests_per_minute": context}
    event = APIGatewayProxyEvent({"requestContext": {"authorizer": authorizer}})
    assert incoming.requests_per_minute(event) == limit


def test_every_partner_has_a_limit_that_can_be_kept() -> None:
    with pytest.raises(ValueError, match="less than or equal"):
        PartnerLimits(requests_per_minute=MOST_PER_MINUTE + 1)
