"""Moto and Redis as a test with a clock of its own needs them: emptied fast, looked into, aged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moto.backends import get_backend
from redis import Redis

from cli.local import redis
from tests.contract.faults import Wire, door
from tests.fakes import FakeClock
from tests.pipeline import REGION
from tests.redis_time import pass_time
from tidegate.doors.valkey import Valkey
from tidegate.errors import CacheRefused
from tidegate.settings import RedisSettings

ACCOUNT = "123456789012"


class StrictValkey(Valkey):
    """The shipped door to Redis, where a mistake of ours fails a test instead of a call."""

    def _do(self, call: Any) -> Any:
        try:
            return super()._do(call)
        except CacheRefused as mistake:
            raise AssertionError("Redis was asked for something it refuses") from mistake


class WatchedValkey(StrictValkey):
    """The shipped door to Redis, through which the dead do nothing."""

    calls: list[str]
    """What was called while the wire watched: `lease.take`."""
    fault: tuple[int, Callable[[Callable[[], Any]], Any]] | None
    """The number of a call from 1, and what becomes of it."""

    def __init__(self, url: str, clock: FakeClock, wire: Wire) -> None:
        super().__init__(RedisSettings(url, None, None, REGION), None, clock)
        self._wire = wire
        self.begin()

    def begin(self) -> None:
        """Forget the run before."""
        self.calls, self.fault, self._rests_until = [], None, 0.0

    def _do(self, call: Any) -> Any:
        self._wire.alive()
        if not self._wire.watching:
            return super()._do(call)
        self.calls.append(door())
        if self.fault is None or len(self.calls) != self.fault[0]:
            return super()._do(call)
        self._wire.struck = True
        return self.fault[1](lambda: super(WatchedValkey, self)._do(call))


class Nodes:
    """Every node of a Redis, past the door."""

    def __init__(self, url: str) -> None:
        ports = [int(url.rsplit(":", 1)[1].split("/")[0])]
        if url.startswith("redis+cluster://"):
            ports = redis.cluster_ports(url)
        self._clients: list[Any] = [Redis(port=port, decode_responses=True) for port in ports]

    def wipe(self) -> None:
        """Empty every node."""
        for client in self._clients:
            client.flushall()

    def age(self, seconds: float) -> None:
        """Let time pass in every node."""
        for client in self._clients:
            pass_time(client, seconds)

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            client.close()


class Tables:
    """Scans of moto's tables for audits, past the wire format: it is most of a run's time."""

    def scan(self, TableName: str) -> dict[str, Any]:  # noqa: N803
        items = _backend("dynamodb").tables[TableName].all_items()
        return {"Items": [item.to_json()["Attributes"] for item in items]}


def queue(name: str) -> Any:
    """Return moto's queue."""
    return _backend("sqs").queues[f"tg-{name}"]


def bodies(name: str) -> list[str]:
    """Return the bodies of all messages in a queue, in whatever state."""
    return [message.body for message in queue(name)._messages]


def empty_moto() -> None:
    """Empty tables, queues and buckets, but for the references: a fiftieth of a reset's time."""
    for name, table in _backend("dynamodb").tables.items():
        if name != "references":
            table.items.clear()
    for each in _backend("sqs").queues.values():
        each._messages.clear()
        each.pending_messages.clear()
    for bucket in _backend("s3", "aws").buckets.values():
        bucket.keys.clear()


def _backend(service: Any, region: str = REGION) -> Any:
    backends: Any = get_backend(service)
    return backends[ACCOUNT][region]
