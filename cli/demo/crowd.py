"""Calls made by many clients at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Barrier
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")

Seen = Callable[[int], None]
"""Told how many calls have returned."""

PATIENCE = 30.0
"""Seconds for all clients to line up."""


def at_once(count: int, call: Callable[[int], T], seen: Seen = lambda _done: None) -> list[T]:
    """Return the results of `call(0)` … `call(count - 1)`, all begun at the same moment."""
    start = Barrier(count)

    def client(index: int) -> T:
        start.wait(PATIENCE)
        return call(index)

    try:
        return side_by_side(client, range(count), count, seen)
    except BaseException:
        start.abort()
        raise


def side_by_side(
    call: Callable[[S], T], items: Sequence[S], width: int, seen: Seen = lambda _done: None
) -> list[T]:
    """Return the result of `call` for each item, in order, at most `width` at a time."""
    pool = ThreadPoolExecutor(width, thread_name_prefix="client")
    try:
        futures = [pool.submit(call, item) for item in items]
        for done, _future in enumerate(as_completed(futures), 1):
            seen(done)
        return [future.result() for future in futures]
    finally:
        # After an interruption nothing more is begun; what is under way ends by its own timeout.
        pool.shutdown(wait=True, cancel_futures=True)
