"""Waiting for what takes its time: by looking again, never by sleeping it out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

REDIS = 5.0
"""Seconds a test gives Redis to reply, ten times what a function does: a busy machine is neither a
Redis out of reach nor a second trouble beside one that is meant."""


def until(look: Callable[[], Found | None], *, patience: float, awaited: str) -> Found:
    """Return what `look` finds; it is called again until that is something.

    Raises:
        AssertionError: it still found nothing after `patience` seconds; says what was `awaited`.
    """
    end = time.monotonic() + patience
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"after {patience:g} s still no {awaited}")
        time.sleep(0.1)
