"""The explorer can find what it looks for: the design is broken on purpose, and it is found."""

from __future__ import annotations

import pytest

from tests.explorer.explore import Run
from tests.explorer.hunt import hunt, sound
from tests.explorer.mutants import Mutant, load
from tests.explorer.scenarios import SCENARIOS

QUICK = [mutant for mutant in load().values() if mutant.at in {0, 1}]


@pytest.fixture(scope="module")
def bases() -> dict[str, Run]:
    """Return what the sound design does without faults."""
    return sound()


@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.name)
def test_a_broken_design_is_found(mutant: Mutant, bases: dict[str, Run]) -> None:
    found, runs = hunt(mutant, bases, [SCENARIOS[mutant.where]], mutant.at)
    assert found is not None, f"not found in {runs} runs"
    assert found.faults == mutant.at


def test_the_mutants_are_many() -> None:
    assert len(QUICK) >= 25
