"""All plans of faults over the shipped handlers: `python -m bench.explore [--pairs]`.

Without `--pairs` every single fault (as in `make test`), with it every pair besides.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from bench.results import written
from tests.explorer.explore import Tally, explorer, task, tasks
from tests.explorer.scenarios import SCENARIOS


@dataclass
class Figures:
    """Of one story."""

    scenario: str
    faults: int
    runs: int
    choice_points: int
    violations: int
    seconds: float
    longest_recovery: dict[str, float] = field(default_factory=dict)
    """Seconds by which one fault, alone, put off the last end at most."""
    more_vendor_calls: dict[str, int] = field(default_factory=dict)
    """How many runs made so many calls more (or fewer) than the run without faults."""


def explored(name: str, faults: int, pool: Any) -> tuple[Figures, Tally]:
    """Return the figures of all plans with at most `faults` faults."""
    begun, tally = time.monotonic(), Tally()
    for _, part in pool.imap_unordered(task, tasks([name], faults), chunksize=4):
        tally.join(part)
    calls = {f"{more:+d}": runs for more, runs in sorted(tally.calls.items())}
    slowest = {fault: round(late, 1) for fault, late in sorted(tally.slowest.items())}
    seconds = round(time.monotonic() - begun, 1)
    figures = Figures(
        name, faults, tally.runs, tally.points, len(tally.violations), seconds, slowest, calls
    )  # fmt: skip
    return figures, tally


def _quiet() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)  # most of what a run leaves is no cycle


def main(words: list[str]) -> int:
    """Explore what is asked for; return how many violations there are."""
    parser = argparse.ArgumentParser(prog="python -m bench.explore")
    parser.add_argument("--pairs", action="store_true", help="two faults, not only one")
    parser.add_argument("--scenario", choices=SCENARIOS, action="append")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    asked = parser.parse_args(words)
    faults = 2 if asked.pairs else 1
    every: list[Figures] = []
    explorer()  # built once, before the processes part
    with multiprocessing.get_context("fork").Pool(asked.jobs, initializer=_quiet) as pool:
        for name in asked.scenario or SCENARIOS:
            figures, tally = explored(name, faults, pool)
            every.append(figures)
            print(
                f"{name:40} {figures.runs:>8} runs {figures.choice_points:>10} choice points "
                f"{figures.violations:>4} violations {figures.seconds:>7.1f} s",
                flush=True,
            )
            for _, plan, hit, broken in tally.violations[:5]:
                steps = " ".join(f"{choice}:{option}" for choice, option in plan.items())
                print(f"    {steps}  {[fault.kind for fault in hit]}  {broken}")
    runs, points = sum(f.runs for f in every), sum(f.choice_points for f in every)
    broken_runs, seconds = sum(f.violations for f in every), sum(f.seconds for f in every)
    print(
        f"{'all, at most ' + str(faults) + ' faults':40} {runs:>8} runs {points:>10} choice points "
        f"{broken_runs:>4} violations {seconds:>7.1f} s"
    )
    print(f"figures: {written('explore_pairs' if asked.pairs else 'explore_singles', every)}")
    return broken_runs


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
