"""The line's scripts in Python, and the partner's rate: `line_join`, `line_turn`, `rate_take`."""

from __future__ import annotations

from collections import Counter
from math import ceil, floor
from typing import Any

from tests.explorer.memory_keys import Keys


def line_join(redis: Keys, keys: list[str], args: list[Any]) -> int:
    member, life, partner = str(args[0]), int(args[1]), args[2]
    redis.add(keys[0], member, 0)
    redis.expire(keys[0], life)
    before = len(redis.between(keys[0], f"[{partner}/", f"({member}"))
    own = len(redis.between(keys[0], f"[{partner}/", f"({partner}0"))
    return floor(before * len(redis.ranked(keys[0])) / own)


def line_turn(redis: Keys, keys: list[str], args: list[Any]) -> str:
    line, turn, calls = keys
    member, mine, cap, looks, life = args[0], args[1], int(args[2]), int(args[3]), int(args[4])
    last = redis.fields(turn)
    if last.get("asked") == args[5]:
        return last["chosen"]
    redis.add(line, member, 0)
    running = Counter(name.split("/")[1] for name, _ in redis.ranked(calls))
    at, first, next_, chosen = last.get("partner", ""), None, mine, ""
    for _ in range(looks):
        found = redis.between(line, f"[{at}0", "+") or redis.between(line, "-", "+")
        partner = found[0].partition("/")[0]
        if partner == first:
            break
        first, at = first or partner, partner
        if running[partner] < cap:
            if partner != mine:
                next_, chosen = partner, found[0]
            break
    redis.drop(line, member, chosen)
    redis.put(turn, partner=next_, asked=args[5], chosen=chosen)
    redis.expire(turn, life)
    return chosen


def rate_take(redis: Keys, keys: list[str], args: list[Any]) -> list[int]:
    request, cost, window, now = args[0], float(args[1]), float(args[2]), redis.now()
    used = redis.fields(keys[0])
    used_until = max(float(used.get("used_until", 0)), now)
    allowed = 1
    if used.get("last") != request:
        if used_until + cost - window > now:
            allowed = 0
        else:
            used_until += cost
            redis.put(keys[0], used_until=f"{used_until:.3f}", last=request)
            redis.expire(keys[0], ceil(used_until - now) + 1)
    left = max(0, floor((window - (used_until - now)) / cost + 0.001))
    return [allowed, left, ceil(max(0.0, used_until + cost - window - now))]
