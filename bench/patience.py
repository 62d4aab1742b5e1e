"""60 jobs wait while the vendor is out: 500 for 20 s, 429 for 60 s, dropped connections for 60 s.

What it costs: jobs dead-lettered, calls during the outage, seconds until all jobs are done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from bench.deployed.audit import audit
from bench.deployed.report import conclude, grid
from bench.deployed.rig import Rig, asked, await_all_done, insist, new_mark, rig, say
from bench.deployed.wire import Wire, wired
from bench.results import written
from cli.demo.crowd import side_by_side
from tidegate.rules.job import Status

JOBS = 60
MODEL = "chat-mini"
PATIENCE = 400.0
WIDTH = 8


@dataclass(frozen=True, slots=True)
class Weathered:
    """What one outage cost."""

    kind: str
    seconds: float
    """How long it lasted."""
    completed: int
    dead_lettered: int
    ended_otherwise: int
    calls_during: int
    calls: int
    drained_after: float
    """Seconds from the vendor's being well again until the last job was done."""


def main() -> int:
    """Run all three; return 1 if an outage cost a job."""
    accepted: dict[str, str] = {}
    found: list[Weathered] = []
    with rig(__doc__ or "") as (stage, arguments), wired(stage.info, MODEL) as wire:
        size = arguments.size or JOBS
        _weathered(stage, wire, "none", 0, 3, accepted)  # whatever has to start has started
        for kind, seconds in (("500", 20), ("429", 60), ("dropped", 60)):
            if arguments.only is None or arguments.only in kind:
                found.append(_weathered(stage, wire, kind, seconds, size, accepted))
        books = audit(stage, accepted)
    grid(f"{size} jobs, and a vendor that is out", (
        "", "seconds", "completed", "dead", "other", "calls while out", "calls", "drained"
    ), [tuple(asdict(each).values()) for each in found])  # fmt: skip
    conclude(books)
    written("patience", {"outages": [asdict(each) for each in found], "audit": asdict(books)})
    return 0 if all(each.completed == size for each in found) and books.clean else 1


def _weathered(
    stage: Rig, wire: Wire, kind: str, seconds: float, size: int, accepted: dict[str, str]
) -> Weathered:
    """Return what became of jobs that were posted at the beginning of an outage."""
    marks = [new_mark() for _ in range(size)]
    partners = stage.stage.partners
    calls = _counter(stage, wire)
    before = calls()

    def post(number: int) -> str:
        partner = partners[number % len(partners)]
        return insist(partner, asked(MODEL, marks[number]), marks[number]).reply.job_id

    with _out(stage, wire, kind):
        end = time.monotonic() + seconds
        made = dict(zip(marks, side_by_side(post, range(size), WIDTH), strict=True))
        accepted.update(made)
        time.sleep(max(0.0, end - time.monotonic()))
        during = calls() - before
    well_at = time.time()
    say(f"{kind}: {during} calls in {seconds:g} s; now it is well")
    jobs = await_all_done(stage, PATIENCE, say)
    mine = [jobs[job_id] for job_id in made.values()]
    dead = sum(job.status is Status.DEAD_LETTERED for job in mine)
    done = sum(job.status is Status.COMPLETED for job in mine)
    last = max(job.finished_at or well_at for job in mine)
    return Weathered(
        kind, seconds, done, dead, len(mine) - done - dead, during, calls() - before,
        round(max(0.0, last - well_at), 1),
    )  # fmt: skip


def _counter(stage: Rig, wire: Wire) -> Callable[[], int]:
    """Return what counts the calls that workers have made: by the vendor's journal and the wire."""
    return lambda: len(stage.calls()) + wire.dropped


@contextmanager
def _out(stage: Rig, wire: Wire, kind: str) -> Iterator[None]:
    """Let the vendor be out inside the block."""
    wire.is_cut = kind == "dropped"
    if kind in {"500", "429"}:
        stage.stage.vendor.fail(MODEL, int(kind), times=None)
    try:
        yield
    finally:
        wire.is_cut = False
        stage.stage.vendor.behave()


if __name__ == "__main__":
    sys.exit(main())
