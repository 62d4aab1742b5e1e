"""Every script and command of the doors with its reply lost, cut or stalled once: the same effect.

One node through a proxy that breaks the TCP connection; a cluster by a hook at redis-py's reading.
Above both are redis-py's own retries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from redis import Redis
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from cli.local import redis
from tests.contract.redis_proxy import GREETING, Proxy, Trouble, before
from tests.fakes import FakeClock
from tidegate.doors.cache import Cache, Cached, Staged
from tidegate.doors.lease import Lease
from tidegate.doors.pace import Pace
from tidegate.doors.valkey import REST, Valkey
from tidegate.errors import CacheUnavailable
from tidegate.settings import RedisSettings

KEY = "0123abcd"
STAGED = Staged("job_1", "raw", [], False, 1, 1, 1, None, 100.0)
ANSWER = Cached("job_1", {"text": "é" * 40_000}, 100.0, 160.0)


@dataclass
class Doors:
    """The doors of one client, and a look at the server past them."""

    valkey: Valkey
    clock: FakeClock
    trouble: Callable[[Trouble, int], None]

    def __post_init__(self) -> None:
        self.lease, self.cache = Lease(self.valkey), Cache(self.valkey)
        self.pace = Pace(self.valkey, "m", 2)

    def state(self) -> dict[str, Any]:
        """Return every key with its value; that each has a life is checked."""
        found: dict[str, Any] = self.valkey._do(_everything)
        return found


def _everything(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in client.scan_iter("*"):
        zset = client.type(key) == "zset"
        found[key] = client.zrange(key, 0, -1) if zset else client.get(key)
        assert client.pttl(key) > 0, key
    return found


def _door(url: str) -> tuple[Valkey, FakeClock]:
    clock = FakeClock()
    return Valkey(RedisSettings(url, None, None, ""), None, clock), clock


@pytest.fixture
def single(redis_single: str) -> Iterator[tuple[Doors, Proxy]]:
    redis.flush(redis_single)
    with before(redis_single) as (proxy, url):
        valkey, clock = _door(url)
        yield Doors(valkey, clock, proxy.next), proxy
        assert proxy.spent
        valkey.close()


@pytest.fixture
def cluster(redis_cluster: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Doors]:
    """A cluster whose next replies are read and then lost with their connection."""
    redis.flush(redis_cluster)
    left = [0]
    kind: Any = AbstractConnection
    send, read = kind.send_packed_command, kind.read_response
    greeted: set[int] = set()

    def sending(connection: Any, command: Any, *args: Any, **named: Any) -> Any:
        first = command[0] if isinstance(command, list) and command else command
        (greeted.add if GREETING.match(bytes(first)) else greeted.discard)(id(connection))
        return send(connection, command, *args, **named)

    def reading(connection: Any, *args: Any, **named: Any) -> Any:
        reply = read(connection, *args, **named)
        if left[0] and id(connection) not in greeted:
            left[0] -= 1
            connection.disconnect()
            raise RedisConnectionError("reply lost")
        return reply

    monkeypatch.setattr(kind, "send_packed_command", sending)
    monkeypatch.setattr(kind, "read_response", reading)
    valkey, clock = _door(redis_cluster)

    def lose(_trouble: Trouble, times: int) -> None:
        left[0] = times

    yield Doors(valkey, clock, lose)
    assert left == [0]
    valkey.close()


def _nothing(_doors: Doors) -> None:
    return


def _leased(doors: Doors) -> None:
    assert doors.lease.take(KEY, "mine", 30) == 0


def _placed(doors: Doors) -> None:
    assert doors.pace.take("mine", 30) == 0


def _staged(doors: Doors) -> None:
    doors.cache.stage(KEY, STAGED, 60)
    doors.cache.mark_pending(KEY, "job_1", 60)


def _promoted(doors: Doors) -> None:
    doors.cache.promote(KEY, ANSWER, 100.0)


Before = Callable[[Doors], None]
CALLS: dict[str, tuple[Before, Callable[[Doors], Any]]] = {
    "lease_take": (_nothing, lambda d: d.lease.take(KEY, "mine", 30)),
    "lease_take refused": (_leased, lambda d: d.lease.take(KEY, "yours", 30) > 0),
    "lease_release": (_leased, lambda d: d.lease.release(KEY, "mine")),
    "pace_take": (_nothing, lambda d: d.pace.take("mine", 30)),
    "pace_take again": (_placed, lambda d: d.pace.take("other", 30)),
    "give_back": (_placed, lambda d: d.pace.give_back("mine")),
    "stage": (_nothing, lambda d: d.cache.stage(KEY, STAGED, 60)),
    "staged": (_staged, lambda d: d.cache.staged(KEY, "job_1")),
    "unstage": (_staged, lambda d: d.cache.unstage(KEY)),
    "mark_pending": (_nothing, lambda d: d.cache.mark_pending(KEY, "job_1", 60)),
    "promote": (_staged, lambda d: d.cache.promote(KEY, ANSWER, 100.0)),
    "look": (_promoted, lambda d: d.cache.look(KEY, 100.0)),
}
"""By name: what is there before, and the call."""


def _twice(doors: Doors, name: str, trouble: Trouble) -> None:
    """Hold a call with trouble against the same call without."""
    prepare, call = CALLS[name]
    prepare(doors)
    expected, state = call(doors), doors.state()
    doors.valkey._do(lambda client: client.flushall())
    prepare(doors)

    doors.trouble(trouble, 1)
    assert call(doors) == expected
    assert doors.state() == state


@pytest.mark.parametrize("trouble", Trouble)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_in_trouble_once_has_its_effect_once(
    single: tuple[Doors, Proxy], name: str, trouble: Trouble
) -> None:
    _twice(single[0], name, trouble)


@pytest.mark.parametrize("name", CALLS)
def test_a_reply_lost_by_a_cluster_is_no_second_effect(cluster: Doors, name: str) -> None:
    _twice(cluster, name, Trouble.LOST)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_was_executed_and_never_answered_may_be_made_again(
    single: tuple[Doors, Proxy], name: str
) -> None:
    doors, _proxy = single
    prepare, call = CALLS[name]
    prepare(doors)
    expected, state = call(doors), doors.state()
    doors.valkey._do(lambda client: client.flushall())
    prepare(doors)

    doors.trouble(Trouble.LOST, 2)
    with pytest.raises(CacheUnavailable):
        call(doors)
    with pytest.raises(CacheUnavailable):  # left alone for a moment: nothing is sent
        call(doors)
    doors.clock.time += REST
    assert call(doors) == expected
    assert doors.state() == state


def test_a_value_is_promoted_whole_or_not_at_all(
    single: tuple[Doors, Proxy], redis_single: str
) -> None:
    """Also where the connection breaks in the middle of a large command."""
    doors, proxy = single
    _staged(doors)
    proxy.next(Trouble.CUT, 2)
    with pytest.raises(CacheUnavailable):
        _promoted(doors)
    with Redis.from_url(redis_single, decode_responses=True) as other:
        assert other.get(f"tg:{{{KEY}}}:result") is None
        assert other.get(f"tg:{{{KEY}}}:pending") == "job_1"
    doors.clock.time += REST
    _promoted(doors)
    assert doors.cache.look(KEY, 100.0).result == ANSWER
