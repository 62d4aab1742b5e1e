"""What becomes of a call when a vendor answers badly, slowly, too much or not at all."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.unit.vendor_server import SteppingClock, entry, free_port, raw_server, timeouts
from tidegate.clock import SystemClock
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
from tidegate.rules.catalogue import Entry
from tidegate.vendors.base import Vendor, VendorAnswer, VendorCall
from tidegate.vendors.registry import build

KEY = "sk-very-secret"
PROMPT = "the partner's private words"
GOOD = {
    "id": "chatcmpl-1",
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}


def call_of(model: Entry) -> VendorCall:
    message = {"role": "user", "content": PROMPT}
    return VendorCall(model, {"messages": [message]}, {"max_tokens": 9}, "job_1:1")


def answered(
    handler: Callable[[httpx.Request], httpx.Response],
    *,
    clock: SteppingClock | None = None,
    **changes: object,
) -> VendorAnswer:
    model = entry("chat-mini", **changes)
    transport = httpx.MockTransport(handler)
    vendor = build(model, "http://vendor.test/v1", lambda: KEY, clock or SteppingClock(), transport)
    return vendor.call(call_of(model))


def over_socket(url: str, clock: SteppingClock | None = None, **seconds: float) -> VendorAnswer:
    model = entry("chat-mini", timeouts=timeouts(**seconds))
    vendor = build(model, url, lambda: KEY, clock or SystemClock())
    return vendor.call(call_of(model))


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
        json.dumps(with_choice(message={"content": ""}, finish_reason="stop")).encode(),
        json.dumps(with_choice(message={"content": " \n"}, finish_reason="stop")).encode(),
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


def test_nothing_shows_the_key_or_the_prompt() -> None:
    model = entry("chat-mini")
    vendor: Vendor = build(model, "http://vendor.test/v1", lambda: KEY, SteppingClock())
    shown = f"{vendor!r} {call_of(model)!r} {answered(lambda _: httpx.Response(200, json=GOOD))!r}"
    assert KEY not in shown
    assert PROMPT not in shown
    assert "Hello." not in shown


@pytest.mark.parametrize("key", ["", " ", "sk-a\nx: y", "sk-\u00e9"])
def test_a_key_that_cannot_be_sent_is_the_accounts_trouble(key: str) -> None:
    model = entry("chat-mini")
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=GOOD))
    vendor = build(model, "http://vendor.test/v1", lambda: key, SteppingClock(), transport)
    with pytest.raises(VendorAccount):
        vendor.call(call_of(model))


def test_a_new_key_is_used_without_a_new_start() -> None:
    keys = iter(["first", "second\n"])
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json=GOOD)

    model = entry("chat-mini")
    vendor = build(
        model,
        "http://vendor.test/",
        lambda: next(keys),
        SteppingClock(),
        httpx.MockTransport(handler),
    )
    vendor.call(call_of(model))
    vendor.call(call_of(model))
    assert seen == ["Bearer first", "Bearer second"]


# Over real sockets.


def respond(connection: socket.socket, body: bytes, *, status: str = "200 OK") -> None:
    head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    connection.sendall(head.encode() + body)


def test_a_good_answer_over_a_socket() -> None:
    with raw_server(lambda c: respond(c, json.dumps(GOOD).encode())) as (url, seen):
        assert over_socket(url).text == "Hello."
    assert len(seen) == 1


def test_a_refused_connection_is_unreachable() -> None:
    with pytest.raises(VendorUnreachable):
        over_socket(f"http://127.0.0.1:{free_port()}")


def test_a_host_that_does_not_exist_is_unreachable() -> None:
    with pytest.raises(VendorUnreachable):
        over_socket("http://vendor.invalid")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
    ],
    ids=["closed", "nonsense", "cut body", "cut chunk"],
)
def test_a_connection_that_breaks_is_unreachable_and_not_tried_again(sent: bytes) -> None:
    with raw_server(lambda c: c.sendall(sent)) as (url, seen):
        with pytest.raises(VendorUnreachable):
            over_socket(url)
        time.sleep(0.05)
    assert len(seen) == 1


def trickling(head: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.sendall(head)
        for _ in range(500):
            connection.sendall(drop)
            time.sleep(0.01)

    return answer


SLOW = [
    pytest.param(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n", id="headers"),
    pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n", b" ", id="body"),
    pytest.param(b"HTTP/1.1 500 No\r\ncontent-length: 9999\r\n\r\n", b" ", id="refusal"),
]


@pytest.mark.parametrize(("head", "drop"), SLOW)
def test_a_server_that_trickles_is_cut_off_by_the_clock(head: bytes, drop: bytes) -> None:
    # Each look at the clock is a second: the total is over long before the server is.
    with raw_server(trickling(head, drop)) as (url, seen):
        began = time.monotonic()
        with pytest.raises((VendorTimeout, VendorFailed)):
            over_socket(url, SteppingClock(step=1), total=20, read=20)
        assert time.monotonic() - began < 2
    assert len(seen) == 1


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"],
    ids=["silent", "stalled headers", "stalled body"],
)
def test_silence_ends_at_the_total_even_if_a_read_may_take_longer(head: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.sendall(head)
        with contextlib.suppress(OSError):
            connection.recv(1)

    with raw_server(answer) as (url, _):
        began = time.monotonic()
        with pytest.raises(VendorTimeout):
            over_socket(url, total=0.3, read=60)
        assert 0.2 < time.monotonic() - began < 1.5


def silent(connection: socket.socket) -> None:
    connection.recv(1)


def test_a_read_may_not_take_longer_than_its_own_timeout() -> None:
    with raw_server(silent) as (url, _):
        began = time.monotonic()
        with pytest.raises(VendorTimeout):
            over_socket(url, total=60, read=0.2)
        assert time.monotonic() - began < 1.5


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with raw_server(lambda c: respond(c, json.dumps(GOOD).encode())) as (url, _):
        assert over_socket(url).text == "Hello."
