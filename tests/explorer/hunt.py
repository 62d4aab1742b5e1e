"""Whether a broken design is found: at how many faults, in which story, by which invariant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.explorer.explore import Explorer, Run, extended
from tests.explorer.mutants import Mutant
from tests.explorer.scenarios import SCENARIOS
from tests.explorer.story import Scenario


@dataclass(frozen=True)
class Found:
    """How a mutant was found."""

    faults: int
    scenario: str
    invariant: str
    plan: dict[int, int]
    runs: int
    """Runs until then."""


def sound() -> dict[str, Run]:
    """Return the runs without faults of the design as it is: what a broken one is held against."""
    explorer = Explorer()
    return {story.name: explorer.base(story) for story in SCENARIOS.values()}


def hunt(
    mutant: Mutant, bases: dict[str, Run], stories: Sequence[Scenario], most: int
) -> tuple[Found | None, int]:
    """Return how a mutant is found with at most `most` faults, the fewest first, and the runs."""
    runs = 0
    with mutant.applied():
        explorer = Explorer(bases)
        for faults in range(most + 1):
            for story in stories:
                for plan in _plans(explorer, story, faults):
                    runs += 1
                    run = explorer.run(story, plan)
                    if run.broken:
                        invariant = run.broken[0].partition(":")[0]
                        return Found(faults, story.name, invariant, plan, runs), runs
    return None, runs


def _plans(explorer: Explorer, story: Scenario, faults: int) -> Iterator[dict[int, int]]:
    """Yield the plans of exactly so many faults."""
    if faults == 0:
        yield {}
        return
    for fewer in _plans(explorer, story, faults - 1):
        run = explorer.run(story, fewer)
        if len(run.faults) == len(fewer):
            yield from extended(run, max(fewer, default=-1))
