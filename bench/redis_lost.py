"""Redis emptied, and Redis killed and back after a while, in the middle of 200 running jobs.

What comes back ends with the experiment: a stack named by `--dir` is left without Redis.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from bench.deployed.audit import Audit, audit
from bench.deployed.report import conclude, grid
from bench.deployed.rig import Rig, asked, await_all_done, insist, new_mark, rig, say
from bench.results import written
from cli.demo.books import await_that
from cli.demo.crowd import side_by_side
from cli.local import redis
from cli.local.processes import Child
from tidegate.rules.job import Job, Status

JOBS = 200
"""Open when it happens, or a few more; half as many again are asked for, which end before."""

CLIENTS = 8
THINKING = 1.0
"""Seconds the vendor takes: at any moment all workers are amid a call."""

AWAY = 20.0
"""Seconds without Redis."""

PATIENCE = 400.0


@dataclass(frozen=True, slots=True)
class Loss:
    """What came of one loss of Redis."""

    what: str
    jobs: int
    open_then: int
    """Jobs that were not final when it happened."""
    with_the_vendor: int
    """Jobs that were amid a call."""
    recovery: float
    """Seconds from the loss to the end of the last of the jobs amid a call."""
    took: float
    """Seconds from the loss to the end of the last job of all."""
    extra_calls: int
    """Of the vendor, beyond one per job."""
    audit: Audit


def main() -> int:
    """Run both; return 1 if anything is not as promised."""
    losses = []
    with rig(__doc__ or "") as (stage, arguments), replaceable(stage) as restart:
        size = arguments.size or JOBS
        for what, lose in (
            ("nothing lost", lambda: None),
            ("emptied (FLUSHALL)", lambda: redis.flush(stage.info.redis_url)),
            (f"killed, back after {AWAY:.0f} s", restart),
        ):
            if arguments.only is None or arguments.only in what:
                losses.append(_lost(replace(stage, begun=time.time()), what, size, lose))
    for loss in losses:
        grid(f"Redis amid {loss.open_then} open jobs of {loss.jobs}: {loss.what}", ("", ""), [
            ("jobs amid a call", loss.with_the_vendor),
            ("until the last of these ended, s", loss.recovery),
            ("until the last of all ended, s", loss.took),
            ("extra vendor calls", loss.extra_calls),
        ])  # fmt: skip
        conclude(loss.audit)
    written("redis_lost", [asdict(loss) for loss in losses])
    return 0 if all(loss.audit.clean for loss in losses) else 1


def _lost(stage: Rig, what: str, size: int, lose: Callable[[], None]) -> Loss:
    say(f"{what}: {size} jobs")
    models = list(stage.stage.models)
    for model in models:
        stage.stage.vendor.script(model, {"type": "delay", "seconds": THINKING, "times": None})
    marks = [new_mark() for _ in range(size + size // 2)]

    def post(number: int) -> str:
        body = asked(models[number % len(models)], marks[number])
        partner = stage.stage.partners[number % len(stage.stage.partners)]
        return insist(partner, body, marks[number]).reply.job_id

    accepted = dict(zip(marks, side_by_side(post, range(len(marks)), CLIENTS), strict=True))
    await_that(lambda: _open(stage.jobs()) <= size + size // 20, "fewer open jobs", PATIENCE)
    before, lost_at = stage.jobs(), time.time()
    lose()
    after = await_all_done(stage, PATIENCE, say)
    stage.stage.vendor.behave()
    await_that(lambda: stage.stage.books.waiting(stage.info.queues.values()) == 0, "rest", 120)
    amid = [job.id for job in before.values() if job.status is Status.PROCESSING]
    books = audit(stage, accepted)
    return Loss(
        what, len(marks), _open(before), len(amid),
        max((_since(after[job_id], lost_at) for job_id in amid), default=0.0),
        max(_since(job, lost_at) for job in after.values()), books.vendor_calls - len(marks), books,
    )  # fmt: skip


@contextmanager
def replaceable(stage: Rig) -> Iterator[Callable[[], None]]:
    """Yield what kills the stack's Redis and, after a while, starts another on its port."""
    address, others = urlsplit(stage.info.redis_url), list[Child]()

    def restart() -> None:
        os.killpg(others[-1].group if others else stage.info.processes["redis"], signal.SIGKILL)
        time.sleep(AWAY)
        others.append(redis.start_alone(Path(home), address.port)[0])

    with tempfile.TemporaryDirectory() as home:
        try:
            yield restart
        finally:
            for child in others:
                child.stop()


def _open(jobs: dict[str, Job]) -> int:
    return sum(not job.done for job in jobs.values())


def _since(job: Job, moment: float) -> float:
    return max(0.0, (job.finished_at or float("inf")) - moment)


if __name__ == "__main__":
    sys.exit(main())
