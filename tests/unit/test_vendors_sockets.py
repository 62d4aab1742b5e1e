"""The same over real sockets: what breaks, trickles or falls silent."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable

import pytest

from tests.unit.vendor_calls import GOOD, over_socket
from tests.unit.vendor_server import SteppingClock, free_port, raw_server
from tidegate.errors import (
    VendorFailed,
    VendorTimeout,
    VendorUnreachable,
)

PATIENCE = 20.0
"""Seconds: a busy machine's share of them is far below, what is not cut off takes a minute."""


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
        for _ in range(6000):
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
        assert time.monotonic() - began < PATIENCE
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
        assert 0.2 < time.monotonic() - began < PATIENCE


def silent(connection: socket.socket) -> None:
    connection.recv(1)


def test_a_read_may_not_take_longer_than_its_own_timeout() -> None:
    with raw_server(silent) as (url, _):
        began = time.monotonic()
        with pytest.raises(VendorTimeout):
            over_socket(url, total=60, read=0.2)
        assert time.monotonic() - began < PATIENCE


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with raw_server(lambda c: respond(c, json.dumps(GOOD).encode())) as (url, _):
        assert over_socket(url).text == "Hello."
