"""The one place where what a vendor did becomes a class of `tidegate.errors`.

Timeouts, broken connections, 408, 409, 425, 429 and 5xx may pass; 401, 402, 403 and a spent quota
are our account's; every other status would come again, so it is not asked for twice.
"""

from __future__ import annotations

import json

import httpcore
import httpx

from tidegate.errors import (
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
    VendorUnreachable,
)
from tidegate.vendors.envelope import at, label
from tidegate.vendors.retry_after import seconds

TRANSPORT_ERRORS: tuple[type[Exception], ...] = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
"""Whatever an HTTP call may raise, of httpx and of the httpcore below it."""

_ACCOUNT = frozenset({401, 402, 403})
_PASSING = frozenset({408, 409, 425})
_BUSY = frozenset({503, 529})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""OpenAI reports an unpaid account as 429 (platform.openai.com/docs/guides/error-codes), and for
pictures as 400: waiting does not cure it, and no job should burn its attempts or end on it."""


def transport(error: Exception) -> VendorError:
    """Return what an error of the HTTP client means; never quotes it."""
    kind = type(error).__name__
    if isinstance(error, httpx.TimeoutException | httpcore.TimeoutException):
        return VendorTimeout(f"the vendor did not answer in time ({kind})")
    return VendorUnreachable(f"the connection to the vendor failed ({kind})")


def status(response: httpx.Response, body: bytes, now: float) -> VendorError:
    """Return what a response other than 200 means.

    Args:
        response: only its status and headers are used.
        body: what could be read of its body; looked at for an error code, never quoted.
        now: seconds since the epoch, where the response carries no `Date`.
    """
    code = response.status_code
    wait = seconds(response.headers, now)
    kind = _class(code, wait, body)
    return kind(
        f"the vendor answered {code}",
        vendor_status=code,
        retry_after=wait,
        request_id=request_id(response.headers),
    )


def request_id(headers: httpx.Headers) -> str | None:
    """Return the vendor's own id of a call, if its headers carry one."""
    return label(headers.get("x-request-id") or headers.get("request-id"))


def _class(code: int, wait: float | None, body: bytes) -> type[VendorError]:
    if code in _ACCOUNT or (code in {400, 429} and not _SPENT.isdisjoint(_error_codes(body))):
        return VendorAccount
    if code == 429 or (code in _BUSY and wait is not None):
        return VendorThrottled
    if code in _PASSING or code >= 500 or code < 300:
        # 1xx and 2xx other than 200: no answer, yet no refusal either.
        return VendorFailed
    return VendorRefused


def _error_codes(body: bytes) -> set[str | None]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return set()
    # Which of the two holds it differs; the other may be the status again.
    return {label(at(data, "error", "code")), label(at(data, "error", "type"))}
