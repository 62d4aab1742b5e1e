"""The connection to a Redis in memory: commands, scripts by their twins, faults at each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.explorer import memory_scripts
from tests.explorer.hub import Hub
from tests.explorer.memory_keys import Keys
from tidegate.doors.valkey import REST, Script, Valkey, Values, positive_millis
from tidegate.errors import CacheUnavailable

READ = ("error", "wiped")
WRITE = ("crash", "error", "twice", "lost", "wiped", "stall")

Told = Callable[[str, list[str], list[Any], Any], None]
"""Told of each script that ran: name, keys, arguments, answer."""


class MemoryValkey(Valkey):
    """The connection of one process: after a failure it rests, as the real one does."""

    def __init__(self, hub: Hub, redis: Keys, told: Told = lambda *_: None) -> None:
        self._hub = hub
        self._redis = redis
        self._told = told
        self._rests_until = 0.0
        self.forgets: list[Callable[[], None]] = []
        """What else its process forgets when it is a new one."""

    def fresh(self) -> None:
        """Be as in a new process."""
        self._rests_until = 0.0
        for forget in self.forgets:
            forget()

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        values: list[str | None] = self._command(
            "get", keys[0], lambda: [self._redis.get(key) for key in keys], READ
        )
        return values

    def get(self, key: str) -> str | None:
        value: str | None = self._command("get", key, lambda: self._redis.get(key), READ)
        return value

    def get_hash(self, key: str) -> dict[str, str]:
        fields: dict[str, str] = self._command(
            "hgetall", key, lambda: self._redis.fields(key), READ
        )
        return fields

    def count_between(self, key: str, first: str, last: str) -> int:
        count: int = self._command(
            "zlexcount", key, lambda: len(self._redis.between(key, first, last)), READ
        )
        return count

    def set(self, key: str, value: str, seconds: float) -> None:
        millis = positive_millis(seconds)
        self._command("set", key, lambda: self._redis.set(key, value, millis), WRITE)

    def delete(self, key: str) -> None:
        self._command("del", key, lambda: self._redis.delete(key), WRITE)

    def remove(self, key: str, member: str) -> None:
        self._command("zrem", key, lambda: self._redis.drop(key, member), WRITE)

    def run(self, script: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return self._command(script, keys[0], lambda: self._ran(script, keys, args), WRITE)

    def together(self, calls: Sequence[Values | Script]) -> list[Any]:
        def call() -> list[Any]:
            return [
                [self._redis.get(key) for key in each.keys]
                if isinstance(each, Values)
                else self._ran(each.name, each.keys, each.args)
                for each in calls
            ]

        writes = any(isinstance(each, Script) for each in calls)
        at = calls[1].keys[0] if len(calls) > 1 else calls[0].keys[0]
        replies: list[Any] = self._command("together", at, call, WRITE if writes else READ)
        return replies

    def _ran(self, script: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        answer = memory_scripts.SCRIPTS[script](self._redis, list(keys), list(args))
        self._told(script, list(keys), list(args), answer)
        return answer

    def close(self) -> None:
        self._rests_until = 0.0

    def _command(
        self, name: str, key: str, call: Callable[[], Any], faults: tuple[str, ...]
    ) -> Any:
        if self._hub.now() < self._rests_until:
            raise CacheUnavailable("Redis was out of reach a moment ago")
        fault = self._hub.choose(f"redis.{name} {key[-8:]}", faults)
        if fault == "error":
            raise self._out_of_reach()
        if fault == "wiped":
            self._redis.wipe()
        answer = call()
        if fault == "lost":
            raise self._out_of_reach()
        return call() if fault == "twice" else answer

    def _out_of_reach(self) -> CacheUnavailable:
        self._rests_until = self._hub.now() + REST
        return CacheUnavailable("Redis is out of reach: ConnectionError")
