"""Who is calling: turns a partner key into a policy for the whole stage.

The policy names every route, because API Gateway caches it by key and reuses it on the next one
(docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html).
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from tidegate.clock import SystemClock, SystemIds
from tidegate.doors import clients
from tidegate.doors.dynamo import Table
from tidegate.doors.partners import KeyRecord, Partners
from tidegate.log_guard import guarded
from tidegate.rules import partner_key
from tidegate.settings import AuthorizerSettings


class Unauthorized(Exception):
    """API Gateway answers 401 to an error with exactly this text."""

    def __init__(self) -> None:
        super().__init__("Unauthorized")


@cache
def _partners() -> Partners:
    settings = AuthorizerSettings.of(os.environ)
    clock, ids = SystemClock(), SystemIds()
    return Partners(Table(clients.dynamodb(), settings.partners_table, clock, ids))


@guarded(Unauthorized)
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return the policy for the partner whose key the request carries.

    Raises:
        Unauthorized: no key, not a key, unknown, revoked or wrong.
    """
    key = authorize(event, _partners())
    context = {"partner": key.partner}
    if key.requests_per_minute is not None:
        context["requests_per_minute"] = str(key.requests_per_minute)  # as it arrives
    stage = "/".join(event["methodArn"].split("/")[:2])
    return {
        "principalId": key.partner,
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": f"{stage}/*/*"}
            ],
        },
        "context": context,
    }


def authorize(event: dict[str, Any], partners: Partners) -> KeyRecord:
    """Return the record of the key a request's `Authorization: Bearer <key>` proves.

    Raises:
        Unauthorized: it proves none.
    """
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    scheme, _, credentials = (headers.get("authorization") or "").partition(" ")
    key = partner_key.parse(credentials.strip()) if scheme.lower() == "bearer" else None
    record = partners.find_key(key.key_id) if key is not None else None
    if key is None or record is None or not record.active:
        raise Unauthorized
    if not partner_key.matches(key.secret, record.secret_sha256):
        raise Unauthorized
    return record
