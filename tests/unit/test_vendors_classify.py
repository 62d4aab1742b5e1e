"""What an answer other than 200 means, and the wait that its error carries."""

from __future__ import annotations

import httpx
import pytest

from tests.unit.vendor_headers import NOW, Lines
from tidegate.errors import VendorAccount, VendorError, VendorFailed, VendorThrottled
from tidegate.vendors.classify import status
from tidegate.vendors.openai_errors import SIGNS
from tidegate.vendors.retry_after import MAX_WAIT

NOW_WRITTEN = "Sun, 06 Nov 1994 08:49:37 GMT"
TEN_LATER = "Sun, 06 Nov 1994 08:49:47 GMT"


@pytest.mark.parametrize(
    ("code", "lines", "kind", "wait"),
    [
        (429, [("retry-after", "3"), ("retry-after", "8")], VendorThrottled, 8.0),
        (429, [("retry-after", TEN_LATER), ("date", NOW_WRITTEN)], VendorThrottled, 10.0),
        (429, [("x-ms-retry-after-ms", "1500")], VendorThrottled, 1.5),
        (429, [("x-ratelimit-reset-requests", "1m30s")], VendorThrottled, 90.0),
        (429, [("retry-after", "9" * 310)], VendorThrottled, MAX_WAIT),
        (429, [("retry-after", "NaN")], VendorThrottled, None),
        (429, [("x-amzn-errortype", "ThrottlingException")], VendorThrottled, None),
        (503, [("retry-after", "-1")], VendorFailed, None),
        (503, [("retry-after", TEN_LATER)], VendorThrottled, 10.0),
        (500, [("retry-after", "3")], VendorFailed, 3.0),
    ],
)
def test_the_error_of_a_response_carries_the_wait(
    code: int, lines: Lines, kind: type[VendorError], wait: float | None
) -> None:
    error = status(httpx.Response(code, headers=lines), b"", NOW, SIGNS)
    assert type(error) is kind
    assert error.retry_after == wait


@pytest.mark.parametrize("code", [400, 429])
@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"code": "billing_hard_limit_reached", "type": "invalid_request_error"}}',
        b'{"error": {"code": "429", "type": "insufficient_quota"}}',
        b'{"error": {"code": null, "type": "insufficient_quota"}}',
    ],
)
def test_a_spent_account_is_no_fault_of_the_job(code: int, body: bytes) -> None:
    assert type(status(httpx.Response(code), body, NOW, SIGNS)) is VendorAccount
