"""Time and identity, as doors: whoever needs them is handed them."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import Protocol

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


class Clock(Protocol):
    """Where a flow gets its time from."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait so many seconds."""
        ...


class Ids(Protocol):
    """Where a flow gets its names and its chance from."""

    def job_id(self, now: float) -> str:
        """Return a new job id that sorts by time."""
        ...

    def token(self) -> str:
        """Return a name nobody else has, for an owner of something."""
        ...

    def fraction(self) -> float:
        """Return a random number in [0, 1)."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait so many seconds."""
        time.sleep(seconds)


class SystemIds:
    """Names and chance from the operating system, safe to snapshot and restore."""

    def job_id(self, now: float) -> str:
        """Return `job_` and 26 characters: 48 bits of milliseconds, 80 random bits (as ULID)."""
        number = (int(now * 1000) << 80) | secrets.randbits(80)
        letters = [CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5)]
        return "job_" + "".join(letters)

    def token(self) -> str:
        """Return 64 random bits in hex."""
        return secrets.token_hex(8)

    def fraction(self) -> float:
        """Return a random number in [0, 1)."""
        return secrets.randbits(53) / (1 << 53)


def rfc3339(seconds: float) -> str:
    """Return a time as RFC 3339 in UTC, rounded to milliseconds as times are stored."""
    moment = datetime.fromtimestamp(round(seconds, 3), UTC)
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"
