"""Every script of `doors/lua` in Python, by name; those of leases and answers are here."""

from __future__ import annotations

from typing import Any

from tests.explorer.memory_keys import Keys, Twin
from tests.explorer.memory_line import line_join, line_turn, rate_take
from tests.explorer.memory_pace import pace_cool_down, pace_settle, pace_switch, pace_take


def lease_take(redis: Keys, keys: list[str], args: list[Any]) -> list[float]:
    held = redis.live(keys[0])
    if held is not None and held[0] != args[0]:
        return [0, held[1] - redis.now()]
    redis.set(keys[0], args[0], int(args[1]))
    return [1, int(args[1])]


def lease_release(redis: Keys, keys: list[str], args: list[Any]) -> int:
    return redis.delete(keys[0]) if redis.get(keys[0]) == args[0] else 0


def promote(redis: Keys, keys: list[str], args: list[Any]) -> int:
    stage, result, pending, negative = keys
    there = str(redis.get(result) or "")[4:19]
    redis.delete(pending)
    redis.delete(stage)
    if (int(there) if there.isdigit() else 0) > int(args[2]):
        return 0
    redis.set(result, args[0], int(args[1]))
    redis.delete(negative)
    return 1


def refresh_begin(redis: Keys, keys: list[str], args: list[Any]) -> int:
    mark = redis.fields(keys[0])
    if mark and int(mark["at"]) >= int(args[1]) and mark["by"] != args[0]:
        return 0
    redis.put(keys[0], at=args[1], by=args[0])
    redis.expire(keys[0], int(args[2]))
    return 1


def remove_if(redis: Keys, keys: list[str], args: list[Any]) -> int:
    return redis.delete(keys[0]) if redis.get(keys[0]) == args[0] else 0


def epochs_raise(redis: Keys, keys: list[str], args: list[Any]) -> int:
    for key, value in zip(keys, args[:-1], strict=True):
        if int(value) >= int(redis.get(key) or -1):
            redis.set(key, str(value), int(args[-1]))
    return 1


SCRIPTS: dict[str, Twin] = {
    twin.__name__: twin
    for twin in (
        lease_take, lease_release, promote, remove_if, refresh_begin, epochs_raise,
        pace_take, pace_settle, pace_cool_down, pace_switch,
        line_join, line_turn, rate_take,
    )
}  # fmt: skip
