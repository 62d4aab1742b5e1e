"""Every single fault at every door call of every story: nothing is lost, doubled or stuck."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pytest

from tests.explorer.explore import Tally, explorer, task, tasks
from tests.explorer.scenarios import SCENARIOS


@pytest.fixture(scope="module")
def total(request: pytest.FixtureRequest) -> Iterator[Tally]:
    """Figures of all stories, printed at the end."""
    tally, begun = Tally(), time.monotonic()
    yield tally
    capture = request.config.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        sys.stdout.write(
            f"\nexplorer, single faults: {tally.runs} runs, {tally.points} choice points, "
            f"{len(tally.violations)} violations, {time.monotonic() - begun:.1f} s\n"
        )


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_single_fault_breaks_anything(name: str, total: Tally) -> None:
    tally = Tally()
    for piece in tasks([name], 1):
        tally.join(task(piece)[1])
    total.join(tally)
    shown = [
        f"python -m tests.explorer '{name}' " + " ".join(f"{c}:{o}" for c, o in plan.items())
        + f"  # {'; '.join(broken)}"
        for _, plan, _, broken in tally.violations
    ]  # fmt: skip
    assert not shown, "\n".join(shown[:20])
    assert tally.runs > 30


@pytest.mark.parametrize("name", ["one job", "dead-lettered, then the key again"])
def test_a_run_is_its_plan_and_nothing_else(name: str) -> None:
    story = SCENARIOS[name]
    plans = [piece[1] for piece in tasks([name], 1)][::7]
    first = [explorer().run(story, plan) for plan in plans]
    again = [explorer().run(story, plan) for plan in reversed(plans)]
    assert first == list(reversed(again))
