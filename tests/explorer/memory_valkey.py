"""Redis in memory: keys with a life, sorted sets, and the Lua scripts' twins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.explorer.hub import Hub
from tidegate.doors.valkey import REST, Valkey, positive_millis
from tidegate.errors import CacheUnavailable

READ = ("error", "wiped")
WRITE = ("crash", "error", "twice", "lost", "wiped", "stall")


class Keys:
    """What a Redis holds: value (or sorted set) and end in milliseconds, by key."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.now = now
        self.values: dict[str, tuple[Any, int]] = {}
        self.wipes = 0

    def live(self, key: str) -> tuple[Any, int] | None:
        """Return a key's value and its end, if it has not ended."""
        held = self.values.get(key)
        if held is not None and held[1] <= self.now():
            del self.values[key]
            return None
        return held

    def get(self, key: str) -> Any:
        """Return a key's value."""
        held = self.live(key)
        return None if held is None else held[0]

    def set(self, key: str, value: Any, millis: int) -> None:
        """Set a key for so long."""
        self.values[key] = (value, self.now() + millis)

    def delete(self, key: str) -> int:
        """Return how many keys went."""
        there = self.live(key) is not None
        self.values.pop(key, None)
        return int(there)

    def forget(self, key: str, member: str) -> None:
        """Remove a member of a sorted set; an empty set is no key."""
        held = self.live(key)
        if held is not None:
            held[0].pop(member, None)
            if not held[0]:
                del self.values[key]

    def run(self, script: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """Return what a script of `doors/lua` returns."""
        return SCRIPTS[script](self, list(keys), list(args))


def lease_take(redis: Keys, keys: Sequence[str], args: Sequence[Any]) -> list[int]:
    held = redis.live(keys[0])
    if held is not None and held[0] != args[0]:
        return [0, held[1] - redis.now()]
    redis.set(keys[0], args[0], int(args[1]))
    return [1, int(args[1])]


def lease_release(redis: Keys, keys: Sequence[str], args: Sequence[Any]) -> int:
    return redis.delete(keys[0]) if redis.get(keys[0]) == args[0] else 0


def pace_take(redis: Keys, keys: Sequence[str], args: Sequence[Any]) -> list[int]:
    now, life = redis.now(), int(args[2])
    places: dict[str, int] = dict(redis.get(keys[0]) or {})
    places = {name: end for name, end in places.items() if end > now}
    if args[0] not in places and len(places) >= int(args[1]):
        held = redis.values[keys[0]]
        redis.values[keys[0]] = (places, held[1])
        return [0, min(places.values()) - now]
    places[args[0]] = now + life
    redis.set(keys[0], places, life)
    return [1, 0]


def promote(redis: Keys, keys: Sequence[str], args: Sequence[Any]) -> int:
    redis.delete(keys[0])
    redis.set(keys[1], args[0], int(args[1]))
    redis.delete(keys[2])
    return 1


SCRIPTS: dict[str, Callable[[Keys, Sequence[str], Sequence[Any]], Any]] = {
    "lease_take": lease_take,
    "lease_release": lease_release,
    "pace_take": pace_take,
    "promote": promote,
}


class MemoryValkey(Valkey):
    """The connection of one process: after a failure it rests, as the real one does."""

    def __init__(self, hub: Hub, redis: Keys) -> None:
        self._hub = hub
        self._redis = redis
        self._rests_until = 0.0

    def fresh(self) -> None:
        """Be as in a new process."""
        self._rests_until = 0.0

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        values: list[str | None] = self._command(
            "get", keys[0], lambda: [self._redis.get(key) for key in keys], READ
        )
        return values

    def get(self, key: str) -> str | None:
        value: str | None = self._command("get", key, lambda: self._redis.get(key), READ)
        return value

    def set(self, key: str, value: str, seconds: float) -> None:
        millis = positive_millis(seconds)
        self._command("set", key, lambda: self._redis.set(key, value, millis), WRITE)

    def delete(self, key: str) -> None:
        self._command("del", key, lambda: self._redis.delete(key), WRITE)

    def forget(self, key: str, member: str) -> None:
        self._command("zrem", key, lambda: self._redis.forget(key, member), WRITE)

    def run(self, script: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return self._command(script, keys[0], lambda: self._redis.run(script, keys, args), WRITE)

    def close(self) -> None:
        self.fresh()

    def _command(
        self, name: str, key: str, call: Callable[[], Any], faults: tuple[str, ...]
    ) -> Any:
        if self._hub.now() < self._rests_until:
            raise CacheUnavailable("Redis was out of reach a moment ago")
        fault = self._hub.choose(f"redis.{name} {key[-8:]}", faults)
        if fault == "error":
            raise self._out_of_reach()
        if fault == "wiped":
            self._redis.values.clear()
            self._redis.wipes += 1
        answer = call()
        if fault == "lost":
            raise self._out_of_reach()
        return call() if fault == "twice" else answer

    def _out_of_reach(self) -> CacheUnavailable:
        self._rests_until = self._hub.now() + REST
        return CacheUnavailable("Redis is out of reach: ConnectionError")
