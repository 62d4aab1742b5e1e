"""What a partner's HTTP request says, read strictly where it matters."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from tidegate.errors import InvalidBody, Unauthenticated, UnsupportedMediaType
from tidegate.flows.wait import LONGEST
from tidegate.rules import directives
from tidegate.rules.directives import Directives
from tidegate.rules.pacing import MOST_PER_MINUTE

_WAIT = re.compile(r"\bwait\s*=\s*\"?(\d{1,6})\"?(?=\s*(?:[,;]|$))", re.IGNORECASE)
_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def partner(event: APIGatewayProxyEvent) -> str:
    """Return the partner the authorizer found; the body never says who is calling.

    Raises:
        Unauthenticated: the request came past the authorizer.
    """
    authorizer = event.raw_event["requestContext"].get("authorizer") or {}
    found = authorizer.get("partner")
    if not isinstance(found, str) or not found:
        raise Unauthenticated("send Authorization: Bearer <partner key>")
    return found


def requests_per_minute(event: APIGatewayProxyEvent) -> int | None:
    """Return the limit that is the partner's own, as the authorizer read it; anything else is none.

    A limit that cannot be read is not one: what holds for every partner then holds for this one.
    """
    authorizer = event.raw_event["requestContext"].get("authorizer") or {}
    found = authorizer.get("requests_per_minute")
    if not isinstance(found, str) or not _COUNT.fullmatch(found):
        return None
    return min(int(found), MOST_PER_MINUTE)


def headers(event: APIGatewayProxyEvent, name: str) -> list[str]:
    """Return every value of a header."""
    many: dict[str, Any] = event.raw_event.get("multiValueHeaders") or {}
    for header, values in many.items():
        if header.lower() == name:
            return list(values)
    single: dict[str, Any] = event.raw_event.get("headers") or {}
    return [value for header, value in single.items() if header.lower() == name]


def body(event: APIGatewayProxyEvent) -> bytes:
    """Return the raw body.

    Raises:
        UnsupportedMediaType: it is not declared as `application/json`.
        InvalidBody: it is declared as base64 and is not.
    """
    types = headers(event, "content-type")
    media = types[0].partition(";")[0].strip().lower() if types else ""
    if media != "application/json":
        raise UnsupportedMediaType("send the body as Content-Type: application/json")
    text: str = event.raw_event.get("body") or ""
    if event.raw_event.get("isBase64Encoded"):
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidBody("the body is not valid base64") from None
    return text.encode("utf-8", "surrogatepass")  # a lone surrogate is refused by the parser


def wait(event: APIGatewayProxyEvent) -> int | None:
    """Return the seconds of `Prefer: wait=N` that are granted; a malformed preference is none."""
    for value in headers(event, "prefer"):
        match = _WAIT.search(value)
        if match:
            return min(int(match[1]), LONGEST)
    return None


def cache_control(event: APIGatewayProxyEvent) -> Directives:
    """Return what the request accepts of the cache."""
    return directives.parse(headers(event, "cache-control"))


def etags(event: APIGatewayProxyEvent) -> set[str]:
    """Return the entity tags of `If-None-Match`."""
    return {tag.strip() for value in headers(event, "if-none-match") for tag in value.split(",")}
