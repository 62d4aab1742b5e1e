"""What the vendor's own journal says of a client: quota used, refusals, when it called."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmock.ratelimit import requested_tokens

MINUTE = 60.0
THROTTLED = 429


@dataclass(frozen=True, slots=True)
class Call:
    """One request as the vendor saw it. Times are seconds of the machine's monotonic clock."""

    number: int
    status: int
    begun: float
    ended: float
    tokens: int
    """What the vendor's token limit counts for it."""
    work: str
    """Equal for every try of one job."""


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """How much of what a vendor would have granted was used."""

    granted: float
    """What was left in the bucket at the start, and what it was given until the last answer."""
    used: int
    seconds: float
    """From the start to the last answer."""

    @property
    def share(self) -> float:
        """Return used / granted."""
        return self.used / self.granted if self.granted else 0.0


@dataclass(frozen=True, slots=True)
class Spread:
    """Of some values, by nearest rank."""

    count: int
    p50: float
    p95: float
    longest: float


def calls_for(journal: Iterable[Mapping[str, Any]], model: str) -> list[Call]:
    """Return the calls for a vendor's model in what `GET /_llmock/requests` returned, by start."""
    calls = [
        Call(
            number=record["seq"],
            status=record["status"],
            begun=record["started_at"],
            ended=record["ended_at"],
            tokens=counted_tokens(record["body"]),
            work=record["fingerprint"],
        )
        for record in journal
        if record["model"] == model
    ]
    return sorted(calls, key=lambda call: call.begun)


def counted_tokens(body: Mapping[str, Any]) -> int:
    """Return what LLMock takes from its token bucket for a request: by size, and `max_tokens`."""
    return requested_tokens(body, len(json.dumps(body).encode()))


def quota_use(
    calls: Sequence[Call], start: float, left: float, per_minute: float, *, in_tokens: bool = False
) -> QuotaUse:
    """Return the use of a quota whose bucket held `left` at `start`.

    used / granted, granted = left + per_minute x minutes from `start` to the last answer. Calls
    that were refused use nothing.
    """
    answered = [call for call in calls if call.status < 400 and call.begun >= start]
    seconds = max((call.ended for call in answered), default=start) - start
    used = sum(call.tokens for call in answered) if in_tokens else len(answered)
    return QuotaUse(left + per_minute * seconds / MINUTE, used, seconds)


def per_step(calls: Iterable[Call], start: float, step: float) -> dict[str, list[int]]:
    """Return how many calls began in each `step` seconds from `start`: answered, refused, other."""
    kinds = {"answered": Counter[int](), "429": Counter[int](), "other": Counter[int]()}
    for call in calls:
        kind = "answered" if call.status < 400 else "429" if call.status == THROTTLED else "other"
        kinds[kind][int((call.begun - start) // step)] += 1
    steps = 1 + max((max(counted, default=-1) for counted in kinds.values()), default=-1)
    return {
        kind: [counted[number] for number in range(steps)]
        for kind, counted in kinds.items()
        if counted or kind != "other"
    }


def refused(calls: Iterable[Call]) -> int:
    """Return how many calls were answered 429."""
    return sum(call.status == THROTTLED for call in calls)


def begun_within(calls: Iterable[Call], start: float, seconds: float) -> int:
    """Return how many calls began in the `seconds` from `start`."""
    return sum(start <= call.begun < start + seconds for call in calls)


def at_once(calls: Iterable[Call]) -> int:
    """Return how many calls were with the vendor at the same time at most."""
    moments = sorted(
        moment for call in calls for moment in ((call.begun, 1), (call.ended, -1))
    )  # at one moment, ends first
    most = now = 0
    for _when, change in moments:
        now += change
        most = max(most, now)
    return most


def findings(verdict: Mapping[str, Any], calls: Iterable[Call]) -> dict[str, int]:
    """Return how often each code is in what `GET /_llmock/verdict` holds against these calls."""
    numbers = {call.number for call in calls}
    found = (each["code"] for each in verdict["findings"] if numbers & {*each["requests"]})
    return dict(sorted(Counter(found).items()))


def spread(values: Iterable[float]) -> Spread:
    """Return median, 95th percentile and maximum, 0 of nothing."""
    ordered = sorted(values)
    if not ordered:
        return Spread(0, 0.0, 0.0, 0.0)
    return Spread(len(ordered), percentile(ordered, 50), percentile(ordered, 95), ordered[-1])


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the smallest of the values below or at which `percent` of them lie (nearest rank)."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
