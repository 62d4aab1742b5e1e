"""Requests that were answered one after the other, and what one of them cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.figures import Spread, spread
from bench.peers.meters import RedisMeter

WARM, COUNTED, TIMED = 50, 50, 400
"""Requests of each kind: before anything is measured; under Redis's MONITOR; against the clock."""
ALL = WARM + COUNTED + TIMED


@dataclass(frozen=True, slots=True)
class Batch:
    """Some requests, answered."""

    seconds: list[float]
    """Of each."""
    as_expected: int
    """How many were answered from where they should have been."""
    cpu: float
    """Seconds, user and system, of the process that answered."""
    aws: Counter[str] = field(default_factory=Counter)
    """HTTP requests to AWS: `dynamodb.PutItem` and so on."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request cost. Means, where nothing else is said."""

    requests: int
    as_expected: int
    vendor_calls: int
    """For all of them together, by the vendor's own journal."""
    redis_round_trips: float
    redis_commands: dict[str, float]
    aws_calls: dict[str, float]
    cpu_ms: float
    latency_ms: Spread


def cost(
    answer: Callable[[int], Batch], meter: RedisMeter, vendor_calls: Callable[[], int]
) -> Cost:
    """Return what a request costs; `answer` has so many answered, one after the other."""
    before = vendor_calls()
    warm = answer(WARM)
    counted, redis = meter.used(lambda: answer(COUNTED))
    timed = answer(TIMED)
    return Cost(
        requests=ALL,
        as_expected=sum(batch.as_expected for batch in (warm, counted, timed)),
        vendor_calls=vendor_calls() - before,
        redis_round_trips=redis.round_trips / COUNTED,
        redis_commands=_each(redis.commands),
        aws_calls=_each(counted.aws),
        cpu_ms=round(timed.cpu / TIMED * 1000, 2),
        latency_ms=spread(round(seconds * 1000, 2) for seconds in timed.seconds),
    )


def _each(counted: dict[str, int]) -> dict[str, float]:
    return {name: number / COUNTED for name, number in sorted(counted.items())}
