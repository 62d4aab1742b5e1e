"""Redis out of reach, far too slow, or read-only: nobody calls the vendor, accepting goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from moto.core.models import MockAWS
from redis import Redis
from redis.exceptions import RedisError

from cli.local import redis
from tests.contract.jobs import loaded
from tests.contract.redis_proxy import Proxy, before
from tests.contract.redis_proxy import Trouble as Kind
from tests.contract.test_accept import BODY
from tests.contract.virtual import queue
from tests.contract.waiting import MODEL, metrics
from tests.contract.world import World, deployed
from tests.patience import until
from tidegate.doors.valkey import REST
from tidegate.flows.setback import REDIS_DOWN_DELAY
from tidegate.rules.job import Status

PATIENCE = 30.0
"""Seconds of real time in which an acceptance, or a worker, must be done in any case."""

Trouble = Callable[[str, Proxy], AbstractContextManager[None]]


@contextmanager
def unreachable(_url: str, proxy: Proxy) -> Iterator[None]:
    """Every connection breaks before a command arrives."""
    proxy.next(Kind.CUT, 10_000)
    yield
    proxy.next(Kind.CUT, 0)


@contextmanager
def slow(url: str, _proxy: Proxy) -> Iterator[None]:
    """The server itself stands still, and answers everything afterwards."""
    with Redis.from_url(redis.plain(url)) as client:
        server = client.info("server")["process_id"]
    os.kill(server, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server, signal.SIGCONT)


@contextmanager
def read_only(url: str, _proxy: Proxy) -> Iterator[None]:
    """The server is a replica, as after a failover that its clients have not seen.

    One of a cluster has no slots instead, as while nobody has taken over from another.
    """
    begin, end = ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE")
    if url.startswith("redis+cluster://"):
        every = " ".join(map(str, range(redis.SLOTS)))
        begin, end = (f"CLUSTER DELSLOTS {every}", f"CLUSTER ADDSLOTS {every}")
    with Redis.from_url(redis.plain(url)) as client:
        client.execute_command(*begin.split())
        try:
            yield
        finally:
            client.execute_command(*end.split())
            until(lambda: _works(client), patience=REST * 10, awaited="Redis that works")


def _works(client: Redis) -> bool:
    """Return whether a node works: a cluster's does a moment after it has its slots again."""
    try:
        return bool(client.set("works", 1, ex=1))
    except RedisError:
        return False


@pytest.fixture(scope="module")
def proxied(_moto: MockAWS, redis_node: str) -> Iterator[tuple[World, Proxy]]:
    with before(redis_node) as (proxy, url), deployed(_moto, redis_node, url) as world:
        yield world, proxy


def asked(n: int) -> dict[str, Any]:
    message = {"role": "user", "content": f"question {n}"}
    return {**BODY, "input": {"messages": [message]}}


@pytest.mark.parametrize("trouble", [unreachable, slow, read_only], ids=lambda each: each.__name__)
def test_nobody_calls_the_vendor_and_nothing_is_lost(
    proxied: tuple[World, Proxy],
    redis_node: str,
    trouble: Trouble,
    capsys: pytest.CaptureFixture[str],
) -> None:
    world, proxy = proxied
    world.begin()
    first = world.post(asked(1), "a").json["id"]
    capsys.readouterr()
    with trouble(redis_node, proxy):
        begun = time.monotonic()
        assert world.deliver(MODEL) == 1
        assert time.monotonic() - begun < PATIENCE
        assert world.vendor.calls == []
        told = metrics(capsys)
        assert told["CacheUnavailable"]
        assert told["model"] == MODEL
        assert told["reason"] == "redis_unavailable"
        (message,) = queue(MODEL)._messages
        delay = message.delayed_until / 1000 - world.clock.now()
        assert REDIS_DOWN_DELAY - 1 <= delay <= 2 * REDIS_DOWN_DELAY
        waiting = loaded(world.pipeline, first)
        assert (waiting.status, waiting.starts, waiting.attempt) == (Status.QUEUED, 0, 0)

        world.clock.time += REST
        second = world.post(asked(2), "b")
        assert second.status == 202
        assert world.post(asked(2), "b").json["id"] == second.json["id"]
    world.wait(REST)
    world.settle()
    for each in (first, second.json["id"]):
        assert loaded(world.pipeline, each).status is Status.COMPLETED
    assert len(world.vendor.calls) == 2
