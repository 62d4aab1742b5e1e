"""API Gateway's own refusals, in the shape of ours.

They never reach a function, so without this a partner would meet two kinds of error body
(docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus

from aws_cdk import aws_apigateway as apigateway


@dataclass(frozen=True, slots=True)
class Problem:
    """What one kind of refusal says (RFC 9457), with the `error` member that SDKs read."""

    status: int
    code: str
    title: str
    detail: str
    retry_after: int | None = None
    """Seconds; None where sending the same request again would be refused again."""

    def body(self) -> str:
        """Return the JSON; `$context` variables are filled in by API Gateway."""
        return json.dumps(
            {
                "type": f"urn:tidegate:problem:{self.code}",
                "title": self.title,
                "status": self.status,
                "detail": self.detail,
                "code": self.code,
                "retryable": self.retry_after is not None,
                "request_id": "$context.requestId",
                "error": {
                    "message": self.detail,
                    "type": "invalid_request_error" if self.status < 500 else "server_error",
                    "param": None,
                    "code": self.code,
                },
            }
        )

    def headers(self) -> dict[str, str]:
        """Return the headers as API Gateway's mapping expressions: literals are quoted."""
        headers = {
            "Content-Type": "'application/problem+json'",
            "Cache-Control": "'private, no-store'",
            "X-Request-Id": "context.requestId",
            "X-Should-Retry": "'false'" if self.retry_after is None else "'true'",
        }
        if self.retry_after is not None:
            headers["Retry-After"] = f"'{self.retry_after}'"
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "'Bearer'"
        return headers


_UNAUTHENTICATED = Problem(
    401,
    "unauthenticated",
    "Unauthenticated",
    "the Authorization header must hold 'Bearer' and a valid partner key",
)
_NOT_FOUND = Problem(404, "not_found", "Not found", "there is nothing at this path")
_INVALID = Problem(400, "invalid_request", "Bad request", "the request could not be understood")
_TOO_MANY = Problem(
    429,
    "too_many_requests",  # everybody's at once; a partner's own limit is `rate_limited`
    "Too many requests",
    "more requests at once than this environment takes; send the same request again",
    retry_after=1,
)
_UNAVAILABLE = Problem(
    503,
    "temporarily_unavailable",
    "Temporarily unavailable",
    "this is on our side and passing; send the same request again",
    retry_after=5,
)

PROBLEMS = {
    "UNAUTHORIZED": _UNAUTHENTICATED,
    # The authorizer allows or refuses keys, never routes: what it denies is not known.
    "ACCESS_DENIED": _UNAUTHENTICATED,
    "INVALID_API_KEY": _UNAUTHENTICATED,
    "INVALID_SIGNATURE": _UNAUTHENTICATED,
    "EXPIRED_TOKEN": _UNAUTHENTICATED,
    # How API Gateway says that a path does not exist.
    "MISSING_AUTHENTICATION_TOKEN": _NOT_FOUND,
    "RESOURCE_NOT_FOUND": _NOT_FOUND,
    "REQUEST_TOO_LARGE": Problem(
        413, "payload_too_large", "Payload too large", "the body is over the limit"
    ),
    "UNSUPPORTED_MEDIA_TYPE": Problem(
        415,
        "unsupported_media_type",
        "Unsupported media type",
        "the body must be application/json",
    ),
    "WAF_FILTERED": Problem(403, "forbidden", "Forbidden", "the request was blocked"),
    "THROTTLED": _TOO_MANY,
    "QUOTA_EXCEEDED": _TOO_MANY,
    "BAD_REQUEST_BODY": _INVALID,
    "BAD_REQUEST_PARAMETERS": _INVALID,
    "API_CONFIGURATION_ERROR": _UNAVAILABLE,
    "AUTHORIZER_CONFIGURATION_ERROR": _UNAVAILABLE,
    "AUTHORIZER_FAILURE": _UNAVAILABLE,
    "INTEGRATION_FAILURE": _UNAVAILABLE,
    "INTEGRATION_TIMEOUT": _UNAVAILABLE,
    # A default's status replaces that of every type without one, hence the length of this list.
    "DEFAULT_4XX": _INVALID,
    "DEFAULT_5XX": _UNAVAILABLE,
}
"""By API Gateway's response type."""


def add_problem_responses(rest: apigateway.RestApi) -> None:
    """Make every refusal of API Gateway's own `application/problem+json`."""
    for kind, problem in PROBLEMS.items():
        rest.add_gateway_response(
            kind.title().replace("_", ""),
            type=apigateway.ResponseType.of(kind),
            status_code=str(problem.status),
            response_headers=problem.headers(),
            # The type that is used where the Accept header decides nothing.
            templates={"application/json": problem.body()},
        )
