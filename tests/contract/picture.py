"""What is left when everything is at rest, and what must hold of it in any case."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.contract import books
from tests.contract.virtual import bodies
from tests.contract.world import MODELS, World
from tidegate.rules.job import Job, Status


@dataclass(frozen=True)
class Picture:
    """The end of a story, whatever happened on the way."""

    jobs: Counter[tuple[Any, ...]]
    claims: int
    money: dict[str, dict[str, int]]
    dead_letters: int
    """Distinct jobs in the DLQs: a copy may come twice, but must come."""
    quarantined: int
    seen: Counter[tuple[Any, ...]]
    """What partners read of their jobs."""


def taken(world: World) -> Picture:
    """Return what is left, after checking what must hold in any case."""
    with world.wire.unwatched():
        money = books.check(world.pipeline)
        jobs = books.jobs(world.pipeline)
        seen = Counter(_read(world, job_id) for job_id in world.known)
    items = world.pipeline.items()
    claims = [item["job_id"]["S"] for item in items if item["sk"]["S"] == "claim"]
    assert set(claims) <= {job.id for job in jobs}
    assert not [i for i in items if i["sk"]["S"].startswith("job#")], "work claimed for ever"
    assert all(job.owner is None for job in jobs)
    dead = [body for model in MODELS for body in bodies(f"{model}-dlq")]
    return Picture(
        Counter((j.status, j.charged, j.reserved, j.replay_count, _code(j)) for j in jobs),
        len(claims), money, _named(dead, jobs), _named(bodies("quarantine"), jobs), seen,
    )  # fmt: skip


def unnoticed(world: World) -> object:
    """Return what is the same, too, where trying a call again was enough: nobody else saw it.

    What partners were answered, the attempts that were made, the seconds it all took.
    """
    jobs = books.jobs(world.pipeline)
    attempts = sorted((j.attempt, j.starts, j.bad_answers, j.version) for j in jobs)
    return world.replies, attempts, round(world.passed)


def _read(world: World, job_id: str) -> tuple[Any, ...]:
    job = world.pipeline.get(f"/v1/jobs/{job_id}").json
    return job["status"], job["done"], str(job["output"] and sorted(job["output"]))


def _named(found: list[str], jobs: list[Job]) -> int:
    return sum(any(job.id in body for body in found) for job in jobs)


def _code(job: Job) -> str | None:
    return job.error.code if job.error and job.status is not Status.COMPLETED else None
