"""A partner's posts per minute: counted first, and told on every answer to a post.

The fields are those of draft-ietf-httpapi-ratelimit-headers-11, which is not an RFC.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from api import incoming
from api.replies import Api, Reply
from tidegate.doors.rate import Allowance
from tidegate.errors import RequestRefused
from tidegate.flows import allow
from tidegate.flows.allow import Post
from tidegate.rules.pacing import MINUTE

_KEPT = "rate_limit_fields"


@contextmanager
def counted(app: APIGatewayRestResolver, api: Api, event: APIGatewayProxyEvent) -> Iterator[Post]:
    """Give the block the post of a partner; when it ends, the post is counted, whatever came of it.

    It is counted on the way, at the latest in the round trip that looks into the cache. A post
    that is refused before is counted here, and refused for the limit first of all.

    Raises:
        Unauthenticated: the request came past the authorizer.
        RateLimited: the partner's posts of this minute are used up.
    """
    partner = incoming.partner(event)
    own = incoming.requests_per_minute(event)
    limit = api.catalogue.partners.requests_per_minute if own is None else own
    doors = api.doors
    sent = allow.post(doors.ids, partner, limit)
    try:
        yield sent
    except RequestRefused:
        allow.count(doors.look.rate, doors.telemetry, sent)
        sent.admit()
        raise
    finally:
        if sent.allowance is not None:  # else nothing is known, and nothing is said
            app.context[_KEPT] = fields(sent.allowance)  # of this request: the resolver clears it


def told(app: APIGatewayRestResolver, go_on: Callable[[APIGatewayRestResolver], Reply]) -> Reply:
    """Return a route's answer with the fields of what was counted: a middleware."""
    answer = go_on(app)
    answer.headers.update(known(app))
    return answer


def known(app: APIGatewayRestResolver) -> Mapping[str, str]:
    """Return the fields for an answer to the request at hand; none if nothing was counted."""
    kept: Mapping[str, str] = app.context.get(_KEPT, {})
    return kept


def fields(allowance: Allowance) -> dict[str, str]:
    """Return `RateLimit-Policy` and `RateLimit`.

    `t` is the time in which `r` more posts are the steady pace of the limit, so that a client that
    spreads them over it is never refused and never told to rush (section 8.5 of the draft); when
    there are none, the time until there is one.
    """
    left = allowance.left if allowance.allowed else 0
    steady = math.ceil(left * MINUTE / allowance.limit)
    seconds = steady if left else allow.until_next(allowance)
    return {
        "RateLimit-Policy": f'"requests";q={allowance.limit};w={round(MINUTE)}',
        "RateLimit": f'"requests";r={left};t={seconds}',
    }
