"""Posts that ask for work: read, counted and accepted, the same for every route."""

from __future__ import annotations

from collections.abc import Callable

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from api import incoming
from api.allowance import counted
from api.replies import Api
from tidegate.flows import allow
from tidegate.flows.accept import accept
from tidegate.flows.acceptance import Accepted
from tidegate.rules import keys
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.request import JobRequest

Parse = Callable[[bytes, Catalogue], JobRequest]


def posted(
    app: APIGatewayRestResolver, api: Api, parse: Parse, route: str
) -> tuple[Accepted, dict[str, str]]:
    """Return what the post at hand came to, and the header that repeats its key.

    Raises:
        TidegateError: it is refused, or cannot be taken now.
    """
    event = app.current_event
    with counted(app, api, event) as sent:
        key = keys.idempotency_key(incoming.headers(event, "idempotency-key"))
        body = incoming.body(event)
        if len(body) > allow.LARGE_BODY:
            allow.first(api.doors.look.rate, api.doors.telemetry, sent)
        accepted = accept(
            parse(body, api.catalogue),
            api.catalogue,
            api.doors,
            sent,
            directives=incoming.cache_control(event),
            route=route,
            key=key,
            correlation_id=event.request_context.request_id or "",
        )
    return accepted, {"Idempotency-Key": key}
