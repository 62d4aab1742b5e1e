"""What becomes of a call when a vendor answers badly, slowly, too much or not at all."""

from __future__ import annotations

import gzip
import json
import traceback
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.unit.vendor_calls import GOOD, KEY, PROMPT, answered
from tests.unit.vendor_server import SteppingClock, timeouts
from tidegate.errors import (
    Retry,
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
    VendorUnreachable,
)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (301, {"location": "http://elsewhere.test/"}, VendorRefused),
        (307, {"location": "http://elsewhere.test/"}, VendorRefused),
        (400, {}, VendorRefused),
        (401, {}, VendorAccount),
        (402, {}, VendorAccount),
        (403, {}, VendorAccount),
        (404, {}, VendorRefused),
        (405, {}, VendorRefused),
        (408, {}, VendorFailed),
        (409, {}, VendorFailed),
        (413, {}, VendorRefused),
        (418, {}, VendorRefused),
        (422, {}, VendorRefused),
        (425, {}, VendorFailed),
        (429, {}, VendorThrottled),
        (429, {"retry-after": "soon"}, VendorThrottled),
        (500, {}, VendorFailed),
        (500, {"retry-after": "3"}, VendorFailed),
        (502, {}, VendorFailed),
        (503, {}, VendorFailed),
        (503, {"retry-after": "3"}, VendorThrottled),
        (504, {}, VendorFailed),
        (520, {}, VendorFailed),
        (529, {}, VendorFailed),
        (529, {"retry-after-ms": "1500"}, VendorThrottled),
        (202, {}, VendorFailed),
        (204, {}, VendorFailed),
    ],
)
def test_each_status_has_one_class_and_is_asked_for_once(
    status: int, headers: dict[str, str], expected: type[VendorError]
) -> None:
    calls: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        body = {"error": {"message": f"you said {PROMPT} with {KEY}"}}
        return httpx.Response(status, headers={"x-request-id": "req-7", **headers}, json=body)

    with pytest.raises(VendorError) as caught:
        answered(handler)
    assert type(caught.value) is expected
    assert caught.value.vendor_status == status
    assert caught.value.request_id == "req-7"
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "1500"}, 1.5), ({}, None)],
)
def test_the_wait_a_vendor_asks_for_is_on_the_error(
    headers: dict[str, str], wait: float | None
) -> None:
    with pytest.raises(VendorThrottled) as caught:
        answered(lambda _: httpx.Response(429, headers=headers))
    assert caught.value.retry_after == wait


def test_a_spent_account_is_not_a_throttle() -> None:
    body = {"error": {"code": "insufficient_quota", "type": "insufficient_quota"}}
    with pytest.raises(VendorAccount) as caught:
        answered(lambda _: httpx.Response(429, json=body))
    assert caught.value.retry is Retry.ACCOUNT


def with_choice(**choice: Any) -> dict[str, Any]:
    return {**GOOD, "choices": [choice]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><title>Bad gateway</title>",
        b"data: {}\n\ndata: [DONE]\n\n",
        b'{"id": "x", "choices": [{"mess',
        b"\xff\xfe{}",
        b"null",
        b"[]",
        b'"text"',
        b"1" * 10_000,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"{}",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": {"0": 1}}',
        b'{"choices": [null]}',
        json.dumps({**GOOD, "error": {"message": PROMPT}}).encode(),
        json.dumps({**GOOD, "error": "overloaded"}).encode(),
        b'{"choices": [], "choices": ' + json.dumps(GOOD["choices"]).encode() + b"}",
        json.dumps(with_choice(message={"content": None}, finish_reason="stop")).encode(),
        json.dumps(with_choice(message={"content": ["a"]}, finish_reason="stop")).encode(),
        json.dumps(with_choice(message={"content": "half"}, finish_reason=None)).encode(),
        json.dumps(with_choice(message={"content": "half"}, finish_reason=["stop"])).encode(),
        json.dumps(with_choice(message={"content": "x"}, finish_reason="tool_calls")).encode(),
        json.dumps(with_choice(message={"content": "x"}, finish_reason="error")).encode(),
    ],
)
def test_a_200_that_is_no_answer_may_be_retried(body: bytes) -> None:
    with pytest.raises(VendorFailed) as caught:
        answered(lambda _: httpx.Response(200, content=body))
    assert caught.value.vendor_status == 200
    assert caught.value.retry is Retry.RETRYABLE


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"},
        {"message": {"content": "I"}, "finish_reason": "content_filter"},
    ],
)
def test_a_refusal_is_permanent(choice: dict[str, Any]) -> None:
    with pytest.raises(VendorRefused) as caught:
        answered(lambda _: httpx.Response(200, json=with_choice(**choice)))
    assert caught.value.request_id == "chatcmpl-1"


@pytest.mark.parametrize("chunked", [True, False])
def test_an_answer_over_the_limit_is_cut_off(chunked: bool) -> None:
    sent: list[int] = []

    def pieces() -> Iterator[bytes]:
        for _ in range(1000):
            sent.append(1)
            yield b"x" * 1000

    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=pieces() if chunked else b"x" * 1_000_000)

    with pytest.raises(VendorFailed, match="larger than 5000 bytes"):
        answered(handler, max_answer_bytes=5000)
    assert len(sent) <= 10


def test_a_compressed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * 50_000_000)

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept-encoding"] == "identity"
        headers = {"content-encoding": "gzip"}
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(bomb))

    with pytest.raises(VendorFailed, match="compressed"):
        answered(handler)


def test_a_body_that_comes_too_slowly_is_cut_off_at_the_total() -> None:
    clock = SteppingClock()

    def trickle() -> Iterator[bytes]:
        for character in json.dumps(GOOD):
            clock.sleep(1)
            yield character.encode()

    started = clock.time
    with pytest.raises(VendorTimeout):
        answered(
            lambda _: httpx.Response(200, content=trickle()),
            clock=clock,
            timeouts=timeouts(total=5),
        )
    assert clock.time - started <= 6


@pytest.mark.parametrize(
    "failure",
    [
        (httpx.ConnectTimeout, VendorTimeout),
        (httpx.ReadTimeout, VendorTimeout),
        (httpx.WriteTimeout, VendorTimeout),
        (httpx.PoolTimeout, VendorTimeout),
        (httpx.ConnectError, VendorUnreachable),
        (httpx.ReadError, VendorUnreachable),
        (httpx.WriteError, VendorUnreachable),
        (httpx.RemoteProtocolError, VendorUnreachable),
        (httpx.LocalProtocolError, VendorUnreachable),
        (httpx.DecodingError, VendorUnreachable),
    ],
    ids=lambda pair: pair[0].__name__,
)
def test_errors_of_the_connection_have_one_class_and_quote_nothing(
    failure: tuple[type[Exception], type[VendorError]],
) -> None:
    raised, expected = failure
    calls: list[int] = []

    def handler(_: httpx.Request) -> httpx.Response:
        calls.append(1)
        raise raised(f"Illegal header value {KEY} {PROMPT}")

    with pytest.raises(VendorError) as caught:
        answered(handler)
    assert type(caught.value) is expected
    assert len(calls) == 1
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert KEY not in shown
    assert PROMPT not in shown
