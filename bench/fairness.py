"""Partner A posts 2,000 jobs; partner B one every few seconds. How long does B wait?

In multiples of one job's turn (1 / jobs begun per second while both wait), beside the Celery +
Redis recipe: first come, first served. There a job waits for all that were before it, so that is
what is counted: the queue is too long to be worked off here.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from bench.chart import Panel, drawn
from bench.deployed.report import grid
from bench.deployed.rig import say
from bench.deployed.trial import WIDTH, Trial, trial
from bench.figures import Spread, spread
from bench.results import written
from cli.demo.crowd import side_by_side
from tidegate.rules.job import Job

BURST, EVERY = 2000, 3.0
WORKERS, LATENCY_MS = 4, 700
AFTER = 90.0
"""Seconds for which B goes on when A has posted everything."""
PATIENCE = 60.0
FEW_TURNS = 12
"""B's p95 at most."""


@dataclass(slots=True)
class Second:
    """What partner B did."""

    marks: list[str] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    """Jobs that the recipe had before each."""


@dataclass(frozen=True, slots=True)
class Waits:
    """B's waits in one of them."""

    turn: float
    """Seconds."""
    turns: Spread
    seconds: Spread
    each: list[float]
    """In turns, by post."""


def main() -> int:
    """Run it; return 1 if B waits for more than a few turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=BURST, help="jobs of partner A")
    size = parser.parse_args().size
    with trial("expected_latency = 0.7", workers=WORKERS, latency_ms=LATENCY_MS) as both:
        both.warm()
        began = time.time()
        second = Second()
        over = threading.Event()
        other = threading.Thread(target=_drip, args=(both, second, over))
        other.start()
        first = both.rig.stage.partners[0]
        posted = time.monotonic()
        side_by_side(lambda _n: both.post(first), range(size), WIDTH, _told)
        posting = time.monotonic() - posted
        time.sleep(AFTER)
        over.set()
        other.join()
        ended = time.time()
        jobs = both.rig.jobs()
        left = sum(not job.done for job in jobs.values())
        ours = _tidegates(both, second, began, ended)
        theirs = _recipes(both, second)
    found = {"tidegate": ours, "recipe": theirs}
    _show(size, found, left)
    written("fairness", {
        "jobs_of_a": size, "seconds_of_posting": posting, "b_posts_every": EVERY,
        "workers": WORKERS, "latency_ms": LATENCY_MS, "left_at_the_end": left,
        **{who: asdict(each) for who, each in found.items()},
    })  # fmt: skip
    return 0 if ours.turns.p95 <= FEW_TURNS and ours.turns.count == theirs.turns.count else 1


def _told(done: int) -> None:
    if not done % 250:
        say(f"partner A has posted {done}")


def _drip(both: Trial, second: Second, over: threading.Event) -> None:
    """Post one job of partner B every few seconds."""
    partner = both.rig.stage.partners[1]
    while not over.wait(EVERY):
        mark, before = both.post(partner)
        second.marks.append(mark)
        second.before.append(before)


def _tidegates(both: Trial, second: Second, began: float, ended: float) -> Waits:
    ids = [both.accepted[mark] for mark in second.marks]
    until = time.monotonic() + PATIENCE
    while True:
        jobs = both.rig.jobs()
        if all(jobs[each].started_at for each in ids) or time.monotonic() > until:
            break
        time.sleep(2)
    starts = [job.started_at for job in jobs.values() if job.started_at]
    turn = (ended - began) / max(1, sum(began <= start <= ended for start in starts))
    return waits([_waited(jobs[each]) for each in ids], turn)


def _waited(job: Job) -> float:
    """Return the seconds a job waited, or has waited so far."""
    return (job.started_at or time.time()) - job.created_at


def _recipes(both: Trial, second: Second) -> Waits:
    starts = sorted(both.recipe.started().values())
    turn = (starts[-1] - starts[0]) / max(1, len(starts) - 1)
    return waits([before * turn for before in second.before], turn)


def waits(seconds: Sequence[float], turn: float) -> Waits:
    """Return the figures of waits in seconds, where one job's turn takes `turn` seconds."""
    each = [round(wait / turn, 2) for wait in seconds]
    return Waits(round(turn, 3), spread(each), spread(round(wait, 2) for wait in seconds), each)


def _show(size: int, found: dict[str, Waits], left: int) -> None:
    rows = [
        ("one job's turn, ms", *(round(1000 * each.turn) for each in found.values())),
        ("B's jobs", *(each.turns.count for each in found.values())),
        ("B's wait, turns: median", *(each.turns.p50 for each in found.values())),
        ("... 95th percentile", *(each.turns.p95 for each in found.values())),
        ("... longest", *(each.turns.longest for each in found.values())),
        ("B's wait, s: 95th percentile", *(each.seconds.p95 for each in found.values())),
    ]
    grid(f"A posts {size} jobs, B one every {EVERY:g} s ({left} jobs were open at the end)",
         ("", *found), rows)  # fmt: skip
    chart = drawn(
        "fairness",
        f"How long partner B waits while partner A has {size} jobs (mind the scales)",
        [
            Panel(
                f"{who}: p95 {each.turns.p95:g} turns of {each.turn:g} s",
                {"wait": each.each}, own_scale=True,
            )
            for who, each in found.items()
        ],
        "B's posts", "turns waited", 1.0,
    )  # fmt: skip
    print(f"  chart: {chart}")


if __name__ == "__main__":
    sys.exit(main())
