"""The front door: builds the doors, hands the request to its route, says what every answer says."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.build import build
from api.replies import Api
from api.routes import resolver
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors import valkey
from tidegate.log_guard import guarded
from tidegate.rules import catalogue
from tidegate.settings import ApiSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import APIGatewayRestResolver
    from aws_lambda_powertools.utilities.typing import LambdaContext

ALWAYS = {
    "Cache-Control": "private, no-store",
    "Vary": "Authorization, Prefer",
    "X-Content-Type-Options": "nosniff",
}


@cache
def _api() -> tuple[Api, APIGatewayRestResolver]:
    settings, clock = ApiSettings.of(os.environ), SystemClock()
    entries = catalogue.load(Path(str(files("catalogue"))), settings.environment)
    api = build(settings, entries, clock, SystemIds(), valkey.connect(settings.redis, clock))
    return api, resolver(api)


@guarded()
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return API Gateway's answer to one request."""
    return handle(event, context, *_api())


def handle(
    event: dict[str, Any], context: LambdaContext, api: Api, app: APIGatewayRestResolver
) -> dict[str, Any]:
    """Return the answer of `app`, with the headers that every answer has, and log it."""
    telemetry, clock = api.doors.telemetry, api.doors.clock
    request = event.get("requestContext") or {}
    telemetry.fresh()
    telemetry.bind(
        request_id=request.get("requestId"),
        partner=(request.get("authorizer") or {}).get("partner"),
    )
    begun = clock.now()
    answer = app.resolve(event, context)
    answer.setdefault("multiValueHeaders", {}).update(
        {name: [value] for name, value in ALWAYS.items()}
    )
    answer["multiValueHeaders"]["X-Request-Id"] = [request.get("requestId") or ""]
    seconds = clock.now() - begun
    telemetry.info(
        "request",
        method=event.get("httpMethod"),
        route=event.get("resource"),
        status=answer["statusCode"],
        duration_ms=round(seconds * 1000, 1),
    )
    telemetry.count("Requests", status=str(answer["statusCode"]))
    telemetry.flush()
    return answer
