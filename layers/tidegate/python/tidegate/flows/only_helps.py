"""What only helps may fail: Redis out of reach costs time or one call more, never the outcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tidegate.errors import CacheUnavailable
from tidegate.telemetry import Telemetry


@contextmanager
def only_helps(telemetry: Telemetry, model: str) -> Iterator[None]:
    """Do without what the block does if Redis is out of reach, and say so in a metric."""
    try:
        yield
    except CacheUnavailable:
        telemetry.count("CacheUnavailable", model=model)
