"""The one place where what a vendor did becomes a class of `tidegate.errors`.

What a refusal says comes first, where its adapter's table knows it (`tidegate.vendors.meaning`).
Else timeouts, broken connections, 408, 409, 425, 429 and 5xx may pass; 401, 402 and 403 are our
account's; every other status would come again, so it is not asked for twice. Such a refusal is
`known` if the vendor's words say that this request is why; else the cause may as well be ours (a
model's wrong name, say), and meet every request.
"""

from __future__ import annotations

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
from tidegate.vendors.envelope import label
from tidegate.vendors.meaning import Meaning, Signs, meaning
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

_MEANT: dict[Meaning, type[VendorError]] = {
    "account": VendorAccount,
    "refused": VendorRefused,
    "passing": VendorFailed,
}
_ACCOUNT = frozenset({401, 402, 403})
_PASSING = frozenset({408, 409, 425})
_BUSY = frozenset({503, 529})
_TOO_LARGE = 413
"""It needs no words: no other request is refused for the size of this one."""


def transport(error: Exception) -> VendorError:
    """Return what an error of the HTTP client means; never quotes it."""
    kind = type(error).__name__
    if isinstance(error, httpx.TimeoutException | httpcore.TimeoutException):
        return VendorTimeout(f"the vendor did not answer in time ({kind})")
    return VendorUnreachable(f"the connection to the vendor failed ({kind})")


def status(response: httpx.Response, body: bytes, now: float, signs: Signs) -> VendorError:
    """Return what a response other than 200 means.

    Args:
        response: only its status and headers are used.
        body: what could be read of its body; looked at for what it means, never quoted.
        now: seconds since the epoch, where the response carries no `Date`.
        signs: what this vendor's refusals mean.
    """
    code = response.status_code
    wait = seconds(response.headers, now)
    meant = meaning(code, body, signs)
    kind = _class(code, wait) if meant is None else _MEANT[meant]
    detail, named = f"the vendor answered {code}", request_id(response.headers)
    if kind is VendorRefused:
        known = meant is not None or code == _TOO_LARGE
        return VendorRefused(
            detail, vendor_status=code, retry_after=wait, request_id=named, known=known
        )
    return kind(detail, vendor_status=code, retry_after=wait, request_id=named)


def request_id(headers: httpx.Headers) -> str | None:
    """Return the vendor's own id of a call, if its headers carry one."""
    return label(headers.get("x-request-id") or headers.get("request-id"))


def _class(code: int, wait: float | None) -> type[VendorError]:
    if code in _ACCOUNT:
        return VendorAccount
    if code == 429 or (code in _BUSY and wait is not None):
        return VendorThrottled
    if code in _PASSING or code >= 500 or code < 300:
        # 1xx and 2xx other than 200: no answer, yet no refusal either.
        return VendorFailed
    return VendorRefused
