"""What a request costs, as others count it: Redis its reads and commands, Linux its CPU time."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from redis import Redis

from bench.deployed.owner import PROC, members
from cli.local.processes import StartFailed

T = TypeVar("T")

END = "the-end-of-what-is-counted"
OWN = frozenset({"INFO", "ECHO"})
"""Commands of the meter itself."""

SETTLE = 1.0
"""Seconds in which what a request leaves for later, such as its counters, is sent."""


@dataclass(frozen=True, slots=True)
class RedisUse:
    """What Redis was asked."""

    round_trips: int
    """Times that it read from a connection: commands sent together are read together."""
    commands: dict[str, int]
    """By name, as clients sent them; what a script does inside Redis is part of its EVALSHA."""


class RedisMeter:
    """Counts at one Redis that nobody else uses."""

    def __init__(self, url: str) -> None:
        self._control = Redis.from_url(
            url, single_connection_client=True, decode_responses=True, socket_timeout=10
        )
        self._listener = Redis.from_url(url, decode_responses=True, socket_timeout=10)

    def close(self) -> None:
        """Close both connections."""
        self._control.close()
        self._listener.close()

    def used(self, during: Callable[[], T]) -> tuple[T, RedisUse]:
        """Return what `during` returns, and what Redis was asked meanwhile.

        Raises:
            StartFailed: this Redis does not count its reads (it is older than 6.0).
        """
        with self._listener.monitor() as monitor:  # type: ignore[no-untyped-call]
            before = self._reads()
            result = during()
            time.sleep(SETTLE)
            reads = self._reads() - before - 1  # the second INFO is read as well
            self._control.echo(END)
            commands = sent(iter(monitor.next_command, None))
        return result, RedisUse(reads, dict(sorted(commands.items())))

    def _reads(self) -> int:
        counted: Mapping[str, Any] = self._control.info("stats")
        if "total_reads_processed" not in counted:
            raise StartFailed("this Redis does not count its reads; 6.0 or later does")
        return int(counted["total_reads_processed"])


def sent(monitored: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return how often each command was sent, up to the end's mark, by what MONITOR reported."""
    counted: Counter[str] = Counter()
    for each in monitored:
        name, _, rest = str(each["command"]).partition(" ")
        if name.upper() == "ECHO" and rest == END:
            break
        if each["client_type"] != "lua" and name.upper() not in OWN:
            counted[name.upper()] += 1
    return counted


def cpu_seconds(group: int) -> float:
    """Return the user and system time that the processes of a group have used (proc(5): stat)."""
    ticks = 0
    for pid in members(group):
        # After the last bracket: a command's name may hold any character.
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def metered(url: str) -> Iterator[RedisMeter]:
    """Yield a meter of the Redis at `url`."""
    meter = RedisMeter(url)
    try:
        yield meter
    finally:
        meter.close()
