"""What one balance item carries: conflicts between transactions, simulated in virtual time.

DynamoDB cancels a transaction that meets another one on the same item; ours then waits a random
while and tries again (`Table.write`). Each job writes its partner's balance twice: reserve, settle.
The emulators have no such conflicts, so this is a model, and its one assumption is how long a
transaction holds its items: 10 ms, the order of a TransactWriteItems call within a region.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as Grid

from bench.results import written
from tidegate.doors.dynamo import CONFLICT_TRIES, backoff

HOLD = 0.010
"""Seconds a transaction holds what it writes."""

SECONDS = 120.0
"""Of virtual time, for each rate."""

RATES = (5, 10, 25, 40, 50, 60, 75, 100)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of transactions arriving at one rate on one item."""

    rate: int
    tries: float
    """Per transaction, mean."""
    p50: float
    p99: float
    """Seconds until a transaction was through."""
    failed: float
    """Share that met others at every try and were answered 503."""


def carried(rate: int, seed: int) -> Outcome:
    """Return what comes of transactions that arrive at random, so many a second."""
    chance = random.Random(seed)  # noqa: S311 - a simulation, repeatable by its seed
    events: list[tuple[float, int, float, int]] = []
    moment, number = 0.0, 0
    while moment < SECONDS:
        moment += chance.expovariate(rate)
        events.append((moment, number, moment, 0))
        number += 1
    heapq.heapify(events)
    held_until, tries, took, failed = 0.0, 0, [], 0
    while events:
        now, name, arrived, attempt = heapq.heappop(events)
        tries += 1
        if now >= held_until:
            held_until = now + HOLD
            took.append(held_until - arrived)
        elif attempt + 1 < CONFLICT_TRIES:
            wait = HOLD + chance.random() * backoff(attempt)
            heapq.heappush(events, (now + wait, name, arrived, attempt + 1))
        else:
            failed += 1
    took.sort()
    return Outcome(
        rate, tries / number, took[len(took) // 2], took[int(len(took) * 0.99)], failed / number
    )


def main() -> None:
    """Print and write the figures."""
    outcomes = [carried(rate, seed=1) for rate in RATES]
    grid = Grid(title="Transactions on one balance item (simulated, 10 ms each)")
    for name in ("per second", "jobs per second", "tries each", "p50", "p99", "answered 503"):
        grid.add_column(name, justify="right")
    for each in outcomes:
        grid.add_row(
            str(each.rate), f"{each.rate / 2:g}", f"{each.tries:.2f}", f"{each.p50 * 1000:.0f} ms",
            f"{each.p99 * 1000:.0f} ms", f"{each.failed:.2%}",
        )  # fmt: skip
    Console().print(grid)
    written("balance", outcomes)


if __name__ == "__main__":
    main()
