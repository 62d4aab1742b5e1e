"""Both clients of the door to Redis: what they make of a server in trouble, how long, and after."""

from __future__ import annotations

import gc
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from cli.local import redis
from cli.local.processes import LOOPBACK
from tests.contract.redis_proxy import Proxy
from tests.contract.redis_servers import processes, saying, silenced
from tests.fakes import FakeClock
from tests.patience import until
from tidegate.doors.valkey import REST, TIMEOUT, Script, Valkey, Values
from tidegate.errors import CacheRefused, CacheUnavailable
from tidegate.settings import RedisSettings

SCHEMES = ("redis", "redis+cluster")
A_SECOND = 2 * TIMEOUT + 0.4
"""Seconds: what a call waits in all, and a busy machine's own."""
POST = (Values(("tg:{epochs}:a",)), Values(("tg:{k}:a", "tg:{k}:b")), Values(("tg:{p}:a",)))
CALLS: dict[str, Callable[[Valkey], Any]] = {
    "get": lambda door: door.get("tg:{k}:a"),
    "together": lambda door: door.together(POST),
}


def door(url: str) -> tuple[Valkey, FakeClock]:
    clock = FakeClock()
    return Valkey(RedisSettings(url, None, None, ""), None, clock), clock


def served(port: int, scheme: str) -> str:
    return f"{scheme}://{LOOPBACK}:{port}"


def fails_within(call: Callable[[], Any], longest: float) -> None:
    begun = time.monotonic()
    with pytest.raises(CacheUnavailable):
        call()
    assert time.monotonic() - begun < longest


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_who_accepts_and_says_nothing_is_given_up(
    scheme: str, call: Callable[[Valkey], Any]
) -> None:
    with socket.create_server((LOOPBACK, 0)) as silent:
        valkey, _clock = door(served(silent.getsockname()[1], scheme))
        fails_within(lambda: call(valkey), A_SECOND)
        valkey.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_who_does_not_even_accept_is_given_up(scheme: str, call: Callable[[Valkey], Any]) -> None:
    with socket.create_server((LOOPBACK, 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:  # whoever comes after these is not heard
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        valkey, _clock = door(served(full.getsockname()[1], scheme))
        fails_within(lambda: call(valkey), A_SECOND)
        valkey.close()
        for each in waiting:
            each.close()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_cluster_of_any_size_that_falls_silent_is_given_up_and_taken_up(
    tmp_path: Path, call: Callable[[Valkey], Any]
) -> None:
    with redis.cluster(tmp_path) as url:
        nodes = processes(url)
        valkey, clock = door(url)
        call(valkey)
        with silenced(nodes.values()):
            for _ in range(2):
                fails_within(lambda: call(valkey), A_SECOND)
                clock.time += REST
        redis.agreed(list(nodes))
        call(valkey)
        valkey.close()


def test_a_cluster_that_was_killed_is_found_again_once_it_has_its_slots(tmp_path: Path) -> None:
    child, port = redis.start_alone(tmp_path / "before")
    valkey, clock = door(served(port, "redis+cluster"))
    try:
        valkey.set("key", "value", 60)
        child.stop()
        fails_within(lambda: valkey.get("key"), A_SECOND)
        clock.time += REST
        child, _port = redis.start_node(tmp_path / "after", port, cluster=True)
        fails_within(lambda: valkey.get("key"), A_SECOND)
        clock.time += REST
        redis.form([port])
        assert valkey.get("key") is None
    finally:
        valkey.close()
        child.stop()


class Endpoint(Proxy):
    """What a cloud's name for a cache is: it leads to a node, which says where it is itself."""

    def _announced(self, data: bytes) -> bytes:
        return data

    def lead_to(self, port: int) -> None:
        self._target = (LOOPBACK, port)


def test_a_cluster_that_moved_is_found_where_its_endpoint_leads(tmp_path: Path) -> None:
    child, port = redis.start_alone(tmp_path / "here")
    endpoint = Endpoint(LOOPBACK, port)
    valkey, clock = door(served(endpoint.port, "redis+cluster"))
    try:
        valkey.set("key", "here", 60)
        child.stop()
        child, port = redis.start_alone(tmp_path / "there")
        endpoint.lead_to(port)
        fails_within(lambda: valkey.get("key"), A_SECOND)
        clock.time += REST
        assert valkey.get("key") is None
    finally:
        valkey.close()
        endpoint.close()
        child.stop()


def test_whoever_fails_again_and_again_keeps_no_connection(tmp_path: Path) -> None:
    child, port = redis.start_node(tmp_path)
    valkey, clock = door(served(port, "redis+cluster"))
    gc.disable()  # a cluster's client refers to itself in circles
    try:
        for _ in range(20):
            with pytest.raises(CacheUnavailable):  # it answers, and is of no cluster
                valkey.get("key")
            clock.time += REST
        with Redis(port=port) as client:
            until(lambda: len(client.client_list()) == 1, patience=5, awaited="only this one")
    finally:
        gc.enable()
        valkey.close()
        child.stop()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n", b":no number\r\n", b"*0\r\n", b"*1\r\n*0\r\n",
        b"-MOVED 12 x\r\n" * 3, b"-MOVED 12 127.0.0.1:1\r\n" * 3, b"-ASK 12 127.0.0.1:1\r\n" * 3,
        b"-LOADING it is loading\r\n" * 3, b"-NOAUTH Authentication required.\r\n" * 3,
        b"-ERR max number of clients reached\r\n",
    ],
    ids=lambda reply: reply[:12].decode().strip(),
)  # fmt: skip
def test_a_server_that_says_anything_else_is_trouble(
    scheme: str, call: Callable[[Valkey], Any], reply: bytes
) -> None:
    with saying(reply) as port:
        valkey, _clock = door(served(port, scheme))
        fails_within(lambda: call(valkey), A_SECOND)
        valkey.close()


def test_a_mistake_of_ours_is_refused_and_is_no_outage(redis_url: str) -> None:
    valkey, _clock = door(redis_url)
    two: tuple[str, str] = ("{a}", "{b}")
    mistakes: list[Callable[[], Any]] = [
        lambda: valkey.get_many(two),
        lambda: valkey.run("lease_release", two, ["token"]),
        lambda: valkey.together([Script("lease_release", two, ("token",))]),
        lambda: valkey._do(lambda client: client.eval("return nobody()", 1, "{a}")),
    ]
    for mistake in mistakes:
        with pytest.raises(CacheRefused):
            mistake()
        assert valkey.get("{a}") is None  # at once
    valkey.close()


@pytest.mark.parametrize("scheme", ["rediss", "rediss+cluster"])
def test_the_cloud_is_spoken_to_with_tls(scheme: str) -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        valkey, _clock = door(served(listener.getsockname()[1], scheme))
        with pytest.raises(CacheUnavailable):
            valkey.get("key")
        client, _address = listener.accept()
        with client:
            assert client.recv(3)[:2] == b"\x16\x03"  # RFC 8446, 5.1: a handshake
        valkey.close()
