"""Every script and command of the doors with its reply lost, cut or stalled once: the same effect.

One node through a proxy that breaks the TCP connection; a cluster by a hook at redis-py's reading.
Above both are redis-py's own retries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis
from redis.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from cli.local import redis
from tests.contract.redis_calls import ANSWER, CALLS, KEY, Doors, promoted, staged
from tests.contract.redis_proxy import GREETING, Proxy, Trouble, before
from tests.fakes import FakeClock
from tests.patience import REDIS
from tidegate.doors.valkey import REST, TIMEOUT, Valkey
from tidegate.errors import CacheUnavailable
from tidegate.settings import RedisSettings


def _door(url: str, timeout: float = REDIS) -> tuple[Valkey, FakeClock]:
    clock = FakeClock()
    return Valkey(RedisSettings(url, None, None, ""), None, clock, timeout), clock


@pytest.fixture
def trouble() -> Trouble:
    """Return what a test is about that is not told."""
    return Trouble.LOST


@pytest.fixture
def single(redis_single: str, trouble: Trouble) -> Iterator[tuple[Doors, Proxy]]:
    redis.flush(redis_single)
    with before(redis_single) as (proxy, url):
        valkey, clock = _door(url, 2 * TIMEOUT if trouble is Trouble.STALLED else REDIS)
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


# Who asks for a turn anew asks for another one.
@pytest.mark.parametrize("name", [name for name in CALLS if name != "turn"])
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
    staged(doors)
    proxy.next(Trouble.CUT, 2)
    with pytest.raises(CacheUnavailable):
        promoted(doors)
    with Redis.from_url(redis_single, decode_responses=True) as other:
        assert other.get(f"tg:{{{KEY}}}:result") is None
        assert other.get(f"tg:{{{KEY}}}:pending") == "job_1"
    doors.clock.time += REST
    promoted(doors)
    assert doors.cache.look(KEY, 100.0).result == ANSWER
