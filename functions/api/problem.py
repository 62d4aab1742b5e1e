"""Errors as partners see them: RFC 9457 problem details, with an `error` member for SDKs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from aws_lambda_powertools.event_handler import Response

from tidegate.errors import Defect, RateLimited, RequestRefused, Retry, TidegateError, Unavailable

TITLES = {
    400: "Bad request",
    401: "Unauthenticated",
    402: "Insufficient credits",
    404: "Not found",
    409: "Conflict",
    413: "Payload too large",
    415: "Unsupported media type",
    422: "Unprocessable request",
    429: "Too many requests",
    500: "Internal error",
    502: "Generation failed",
    503: "Temporarily unavailable",
    504: "Not in the cache",
}

PASSING = Unavailable("this is on our side and passing; send the same request again")
"""What partners are told of a store or queue that cannot be reached."""

OURS = Defect("an error on our side; sending the same request again will not help")
"""What partners are told where a store or queue refuses what we ask of it."""


def response(
    error: TidegateError, request_id: str, more: Mapping[str, str] = MappingProxyType({})
) -> Response[str]:
    """Return the HTTP response for an error of the tree, with `more` headers."""
    retryable = error.retry is Retry.RETRYABLE
    pointers = error.pointers if isinstance(error, RequestRefused) else ()
    body: dict[str, Any] = {
        "type": f"urn:tidegate:problem:{error.code}",
        "title": TITLES.get(error.status, "Error"),
        "status": error.status,
        "detail": str(error),
        "code": error.code,
        "retryable": retryable,
        "request_id": request_id,
        "error": {
            "message": str(error),
            "type": "invalid_request_error" if error.status < 500 else "server_error",
            "param": pointers[0][0] if pointers else None,
            "code": error.code,
        },
    }
    if pointers:
        body["errors"] = [{"pointer": pointer, "detail": detail} for pointer, detail in pointers]
    headers: dict[str, str | list[str]] = {
        **more,
        "x-should-retry": "true" if retryable else "false",
    }
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(error.retry_after)
    elif error.status == 503 or (error.status == 409 and retryable):
        headers["Retry-After"] = "1"
    return Response(
        status_code=error.status,
        content_type="application/problem+json",
        body=json.dumps(body),
        headers=headers,
    )
