"""Every plan with at most so many faults, one run each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.explorer.always import Always
from tests.explorer.at_rest import Rest, resting
from tests.explorer.bounds import Base
from tests.explorer.caching import Caching
from tests.explorer.gated import Gated
from tests.explorer.hub import Fault, Livelock, Plan
from tests.explorer.paced import Paced
from tests.explorer.scenarios import SCENARIOS
from tests.explorer.story import Scenario
from tests.explorer.world import World


@dataclass(frozen=True)
class Run:
    """What came of one plan."""

    plan: Plan
    choices: tuple[tuple[str, ...], ...]
    faults: tuple[Fault, ...]
    broken: tuple[str, ...]
    last: float
    """Seconds from the beginning to the end of the last job."""
    calls: int
    """Vendor calls."""


@dataclass
class Tally:
    """Figures of many runs."""

    runs: int = 0
    points: int = 0
    violations: list[tuple[str, dict[int, int], tuple[Fault, ...], tuple[str, ...]]] = field(
        default_factory=list
    )
    """Scenario, plan, faults, what is broken."""
    slowest: dict[str, float] = field(default_factory=dict)
    """By fault: by how many seconds it put off the last end at most, alone."""
    calls: Counter[int] = field(default_factory=Counter)

    def add(self, scenario: str, run: Run, base: Run) -> None:
        """Count a run."""
        self.runs += 1
        self.points += len(run.choices)
        self.calls[run.calls - base.calls] += 1
        if run.broken:
            self.violations.append((scenario, dict(run.plan), run.faults, run.broken))
        if len(run.faults) == 1:
            kind, late = run.faults[0].kind, run.last - base.last
            self.slowest[kind] = max(late, self.slowest.get(kind, 0.0))

    def join(self, other: Tally) -> None:
        """Count another one's runs too."""
        self.runs += other.runs
        self.points += other.points
        self.violations += other.violations
        self.calls += other.calls
        for fault, late in other.slowest.items():
            self.slowest[fault] = max(late, self.slowest.get(fault, 0.0))


class Explorer:
    """Runs plans of scenarios in a world that is built once."""

    def __init__(self, bases: dict[str, Run] | None = None) -> None:
        self.world = World()
        self._bases: dict[str, Run] = {} if bases is None else bases
        """Of a broken design: what the sound one does without faults."""

    def base(self, scenario: Scenario) -> Run:
        """Return the run without faults."""
        if scenario.name not in self._bases:
            self._bases[scenario.name] = self._run(scenario, {}, None)
        return self._bases[scenario.name]

    def run(self, scenario: Scenario, plan: Plan) -> Run:
        """Return what comes of a plan."""
        base = self.base(scenario)
        return self._run(scenario, plan, Base(base.last, base.calls))

    def _run(self, scenario: Scenario, plan: Plan, base: Base | None) -> Run:
        world = self.world
        world.reset(plan)
        always, paced, caching = Always(world), Paced(world), Caching(world, scenario)
        gated = Gated(world)
        scenario.begin(world)
        try:
            world.run()
            last, stuck = resting(world)
            calls = len(world.deployed.vendor.calls)
            self._ask_again(scenario)
            rest = Rest(world, scenario, always, last, calls)
            broken = [*stuck, *rest.broken(base, world.hub.taken), *always.broken]
            broken += [*paced.broken, *paced.rested()]
            broken += [*caching.broken, *caching.rested(world.hub.taken, calls)]
            broken += [*gated.broken, *gated.rested(world.hub.taken)]
        except (Livelock, AssertionError) as error:
            broken, last, calls = [f"comes to rest: {error}", *always.broken, *paced.broken], 0.0, 0
        return Run(
            plan, tuple(world.hub.choices), tuple(world.hub.taken), tuple(broken), last,
            calls,
        )  # fmt: skip

    def _ask_again(self, scenario: Scenario) -> None:
        """Post every key that heard no answer once more, with no fault any more."""
        world = self.world
        world.hub.faultless = True
        last = {(h.post.partner, h.post.key): h.status for h in world.heard}
        answered = {name for name, status in last.items() if 0 < status < 500}
        for post in scenario.posts:
            if (post.partner, post.key) not in answered:
                answered.add((post.partner, post.key))
                world.post(post, 1)
        world.run()


def extended(run: Run, after: int) -> Iterator[dict[int, int]]:
    """Yield the plans with one more fault than a run's, behind its choice `after`."""
    for index in range(after + 1, len(run.choices)):
        for option in range(1, len(run.choices[index]) + 1):
            yield {**run.plan, index: option}


def below(explorer: Explorer, scenario: Scenario, plan: Plan, depth: int) -> Tally:
    """Return the figures of a plan and all that add up to `depth` faults behind its last."""
    tally = Tally()
    base = explorer.base(scenario)
    stack: list[tuple[Any, int]] = [(dict(plan), depth)]
    while stack:
        at, left = stack.pop()
        run = explorer.run(scenario, at)
        tally.add(scenario.name, run, base)
        if left and len(run.faults) == len(at):
            stack += [(more, left - 1) for more in extended(run, max(at, default=-1))]
    return tally


def firsts(explorer: Explorer, scenario: Scenario) -> list[dict[int, int]]:
    """Return the plans of one fault."""
    return list(extended(explorer.base(scenario), -1))


_EXPLORERS: list[Explorer] = []


def explorer() -> Explorer:
    """Return this process's explorer."""
    if not _EXPLORERS:
        _EXPLORERS.append(Explorer())
    return _EXPLORERS[0]


def task(work: tuple[str, Plan, int]) -> tuple[str, Tally]:
    """Return a scenario's name and the figures of one plan and what extends it."""
    name, plan, depth = work
    return name, below(explorer(), SCENARIOS[name], plan, depth)


def tasks(names: Iterable[str], faults: int) -> list[tuple[str, Plan, int]]:
    """Return the work of all plans with at most `faults` faults, in pieces."""
    pieces: list[tuple[str, Plan, int]] = [(name, {}, 0) for name in names]
    if faults:
        for name in names:
            pieces += [(name, plan, faults - 1) for plan in firsts(explorer(), SCENARIOS[name])]
    return pieces
