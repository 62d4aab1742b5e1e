"""The pace's scripts in Python: `pace_take`, `pace_settle`, `pace_cool_down`, `pace_switch`."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from tests.explorer.memory_keys import Keys

OUTCOMES = ("answered", "failing", "refusing")
WHYS = ("requests", "tokens", "low_requests")


def _number(value: str | None) -> float:
    return float(value or 0)


def _text(value: float) -> str:
    return f"{value:.3f}"


def _factor(pause: dict[str, str], now: float, recovery: float) -> float:
    risen = max(0.0, now - _number(pause.get("factor_at"))) / recovery
    return min(1.0, float(pause.get("factor", "1")) + risen)


def _limit(redis: Keys, key: str, until: float, spare: int = 1) -> None:
    if until > redis.now():
        redis.set(key, _text(until), ceil(until - redis.now()) + spare)
    else:
        redis.delete(key)


Refusal = list[Any]
"""`{0, wait, why}`."""


def _refused(wait: float, why: str) -> Refusal:
    return [0, ceil(max(wait, 1)), why]


class _Taking:
    """One run of `pace_take`."""

    def __init__(self, redis: Keys, keys: list[str], args: list[Any]) -> None:
        self.redis, self.now = redis, redis.now()
        self.pause_key, self.calls, *self.limits, self.held_key = keys
        self.member, self.life = str(args[0]), float(args[1])
        self.places, self.low_places = int(args[2]), int(args[3])
        self.costs = [float(cost) for cost in args[4:7]]
        self.burst, self.horizon, self.recovery = (float(arg) for arg in args[7:10])
        self.held = redis.fields(self.held_key)
        self.pause = redis.fields(self.pause_key)
        self.cooling = _number(self.pause.get("strikes")) > 0
        self.factor = _factor(self.pause, self.now, self.recovery)

    def stop(self) -> Refusal | None:
        """Return what stops everybody, with the booking given back."""
        pause, now = self.pause, self.now
        off_until, until = _number(pause.get("off_until")), _number(pause.get("until"))
        probe, probe_until = pause.get("probe"), _number(pause.get("probe_until"))
        if pause.get("off") == "1" and (off_until == 0 or off_until > now):
            refusal = _refused(off_until - now if off_until else 86_400_000, "switched_off")
        elif until > now:
            reason = pause["reason"]
            refusal = _refused(until - now, "paused" if reason == "throttled" else reason)
        elif self.cooling and probe not in {None, self.member} and probe_until > now:
            refusal = _refused(probe_until - now, "probing")
        else:
            return None
        for i, key in enumerate(self.limits, 1):
            end = self.held.get(f"end{i}")
            if end is not None and self.redis.get(key) == end:
                _limit(self.redis, key, _number(self.held[f"from{i}"]), 0)
        self.redis.delete(self.held_key)
        self.redis.drop(self.calls, self.member)
        if probe == self.member:
            self.redis.drop(self.pause_key, "probe", "probe_until")
        return refusal

    def full(self) -> Refusal | None:
        """Return what refuses a place among the calls in flight."""
        ranked = self.redis.ranked(self.calls)
        self.redis.drop(self.calls, *(name for name, end in ranked if end <= self.now))
        in_flight = [(name, end) for name, end in ranked if end > self.now]
        if self.member in dict(in_flight):
            return None
        if len(in_flight) >= max(1, floor(self.places * self.factor + 0.001)):
            return _refused(in_flight[0][1] - self.now, "calls")
        low = [end for name, end in in_flight if name.startswith("low/")]
        if self.low_places and len(low) >= self.low_places:
            return _refused(low[0] - self.now, "low_calls")
        return None

    def book(self) -> Refusal | None:
        """Take a slot of each limit, or return why there is none soon."""
        start, why, slots = self.now, WHYS[0], list[tuple[int, float, float]]()
        for i, key in enumerate(self.limits, 1):
            cost = self.costs[i - 1] / self.factor
            if cost <= 0:
                continue
            begin = max(_number(self.redis.get(key)), self.now)
            slots.append((i, begin, begin + cost))
            earliest = begin - max(self.burst - cost, 0)
            if earliest > start:
                start, why = earliest, WHYS[i - 1]
        if start - self.now > self.horizon:
            return _refused(start - self.now, why)
        self.held = {"start": _text(start)}
        for i, begin, end in slots:
            _limit(self.redis, self.limits[i - 1], end)
            self.held |= {f"from{i}": _text(begin), f"end{i}": _text(end)}
        self.redis.put(self.held_key, **self.held)
        self.redis.expire(self.held_key, self.life)
        return None


def pace_take(redis: Keys, keys: list[str], args: list[Any]) -> list[Any]:
    taking = _Taking(redis, keys, args)
    if "known" not in taking.pause:
        return [0, 0, "unknown"]
    refusal = taking.stop() or taking.full()
    if refusal is None and "start" not in taking.held:
        refusal = taking.book()
    if refusal is not None:
        return refusal
    now, until = taking.now, _text(taking.now + taking.life)
    if taking.cooling:
        redis.put(taking.pause_key, probe=taking.member, probe_until=until)
    start = _number(taking.held["start"])
    if start > now:
        return _refused(start - now, "booked")
    redis.put(taking.held_key, begun=_text(now))
    redis.add(taking.calls, taking.member, now + taking.life)
    if redis.left(taking.calls) < taking.life:
        redis.expire(taking.calls, taking.life)
    return [1, 0, "granted"]


def pace_settle(redis: Keys, keys: list[str], args: list[Any]) -> int:
    pause_key, calls, *limits, held_key, outcomes = keys
    member, outcome, share = str(args[0]), args[1], float(args[2])
    longest_debt, job, kept, window = float(args[3]), str(args[4]), int(args[5]), float(args[6])
    now = redis.now()
    redis.drop(calls, member)
    held = redis.fields(held_key)
    if not redis.delete(held_key):
        return 0
    if outcome == "unused":
        for i, key in enumerate(limits, 1):
            if f"end{i}" in held and redis.get(key) == held[f"end{i}"]:
                _limit(redis, key, _number(held[f"from{i}"]))
    elif "end2" in held and share != 1:
        reserved = _number(held["end2"]) - _number(held["from2"])
        used_until = max(_number(redis.get(limits[1])), now)
        _limit(redis, limits[1], used_until + min(reserved * (share - 1), longest_debt))
    if job:
        _remember(redis, outcomes, "answered", job, kept, window)
    pause = redis.fields(pause_key)
    after = _number(held.get("begun")) > _number(pause.get("set_at"))
    after = after and _number(pause.get("until")) <= now
    if outcome == "answered" and _number(pause.get("strikes")) > 0 and after:
        redis.put(pause_key, strikes=0)
        redis.drop(pause_key, "probe", "probe_until", "reason")
    elif pause.get("probe") == member:
        redis.drop(pause_key, "probe", "probe_until")
    return 1


def _remember(redis: Keys, key: str, kind: str, job: str, kept: int, window: float) -> None:
    redis.drop(key, *(f"{each}/{job}" for each in OUTCOMES))
    redis.add(key, f"{kind}/{job}", redis.now())
    ranked = redis.ranked(key)
    redis.drop(key, *(name for name, _ in ranked[: max(0, len(ranked) - kept)]))
    if redis.left(key) < window:
        redis.expire(key, window)


def _stays_closed(redis: Keys, key: str, reason: str, job: str, args: list[Any]) -> bool:
    """Record an outcome; return whether the last ones are not enough to pause the model."""
    needed, calls, share, window, kept = (float(arg) for arg in args)
    _remember(redis, key, reason, job, int(kept), window)
    since = redis.now() - window
    last = [name for name, at in reversed(redis.ranked(key)) if at >= since][: int(calls)]
    of_it = sum(name.startswith(reason) for name in last)
    return of_it < needed or of_it < len(last) * share


def pace_cool_down(redis: Keys, keys: list[str], args: list[Any]) -> list[int]:
    pause_key, held_key, outcomes = keys
    member, reason, now = str(args[0]), args[4], redis.now()
    asked, first, longest, slower, slowest, recovery, known = (
        float(args[i]) for i in (1, 2, 3, 5, 6, 7, 8)
    )
    pause = redis.fields(pause_key)
    until, strikes = _number(pause.get("until")), int(_number(pause.get("strikes")))
    if pause.get("last") == member:
        return [max(0, ceil(until - now)), strikes]
    probed = strikes > 0 and pause.get("reason") == reason
    few = int(args[10]) and _stays_closed(redis, outcomes, reason, str(args[9]), args[10:15])
    if few and not probed:
        return [0, strikes]
    begun = _number(redis.fields(held_key).get("begun"))
    in_a_row = strikes if pause.get("reason") == reason else 0
    if strikes == 0 or begun > _number(pause.get("set_at")):
        in_a_row += 1
        factor = max(slowest, _factor(pause, now, recovery) * slower)
        redis.put(pause_key, factor=f"{factor:.6f}", factor_at=_text(now), set_at=_text(now))
    in_a_row = max(in_a_row, 1)
    ends = now + max(min(longest, first * 2 ** (in_a_row - 1)), asked)
    if ends >= until:
        until, strikes = ends, in_a_row
        redis.put(pause_key, until=_text(until), strikes=strikes, reason=reason)
    redis.put(pause_key, last=member)
    if pause.get("probe") == member:
        redis.drop(pause_key, "probe", "probe_until")
    left = ceil(until - now)
    redis.expire(pause_key, left + known)
    return [left, strikes]


def pace_switch(redis: Keys, keys: list[str], args: list[Any]) -> int:
    off, until, turned, known, at = (int(arg) for arg in args)
    if _number(redis.fields(keys[0]).get("turned_at")) > at:
        return 0
    redis.put(keys[0], known=1, off=off, off_until=until, turned_at=at)
    if turned and not off:
        redis.drop(keys[0], "until", "set_at", "strikes", "reason", "probe", "probe_until")
        for key in keys[1:]:
            redis.delete(key)
    if redis.left(keys[0]) < known:
        redis.expire(keys[0], known)
    return 1
