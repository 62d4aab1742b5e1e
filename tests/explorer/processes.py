"""What an invocation has around it: a process, time, names, a telemetry that tells nobody."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tests.explorer.hub import Hub
from tests.explorer.memory_valkey import MemoryValkey
from tidegate.telemetry import Telemetry

T = TypeVar("T")


class Silent(Telemetry):
    """Telemetry that tells nobody."""

    def __init__(self) -> None:
        pass

    def fresh(self) -> None:
        pass

    def bind(self, **fields: Any) -> None:
        pass

    def info(self, event: str, **details: str | float | bool | None) -> None:
        pass

    def warn(self, event: str, **details: str | float | bool | None) -> None:
        pass

    def error(self, event: str, **details: str | float | bool | None) -> None:
        pass

    def count(self, name: str, value: float = 1, **dimensions: str) -> None:
        pass

    def duration(self, name: str, seconds: float, **dimensions: str) -> None:
        pass

    def flush(self) -> None:
        pass


PART = 0.0004
"""Seconds of a millisecond that a clock knows of, and nothing that is stored."""


class VirtualClock:
    """The hub's time, and a part of a millisecond as clocks have it."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def now(self) -> float:
        return self._hub.ms / 1000 + PART

    def sleep(self, seconds: float) -> None:
        self._hub.sleep(max(1, round(seconds * 1000)))


class CountedIds:
    """Names in order, the same in each run of one plan."""

    def __init__(self) -> None:
        self.again()

    def again(self) -> None:
        """Begin anew."""
        self._count = itertools.count(1)

    def job_id(self, _now: float) -> str:
        return f"job_{next(self._count):026d}"

    def token(self) -> str:
        return f"t{next(self._count)}"

    def fraction(self) -> float:
        return 0.5


class Context:
    """As much of Lambda's context as handlers use."""

    aws_request_id = "invocation"

    def __init__(self, hub: Hub, seconds: float) -> None:
        self._hub = hub
        self._end = hub.ms + round(seconds * 1000)

    def get_remaining_time_in_millis(self) -> int:
        return self._end - self._hub.ms


class Pool(Generic[T]):
    """Processes of one function: an invocation takes an idle one, or a new one is made."""

    def __init__(
        self, make: Callable[[MemoryValkey], T], valkey: Callable[[], MemoryValkey]
    ) -> None:
        self._make = make
        self._valkey = valkey
        self._idle: list[tuple[MemoryValkey, T]] = []

    def take(self) -> tuple[MemoryValkey, T]:
        """Return a process, its Redis connection first."""
        if self._idle:
            return self._idle.pop()
        valkey = self._valkey()
        return valkey, self._make(valkey)

    def give(self, process: tuple[MemoryValkey, T], *, dead: bool) -> None:
        """Take a process back; a dead one is replaced."""
        if dead:
            process[0].fresh()
        self._idle.append(process)
