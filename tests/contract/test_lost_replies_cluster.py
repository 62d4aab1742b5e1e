"""The whole way over a Redis cluster: every conditional write of it once with its reply lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto.core.models import MockAWS

from tests.contract import stories
from tests.contract.faults import CONDITIONAL, Fault, Kind
from tests.contract.strike import Story, clean, struck
from tests.contract.world import World, deployed


@pytest.fixture(scope="module")
def world(_moto: MockAWS, redis_cluster: str) -> Iterator[World]:
    with deployed(_moto, redis_cluster) as made:
        yield made


@pytest.mark.parametrize(
    "story", [stories.answered, stories.tried_again, stories.quarantined], ids=lambda s: s.__name__
)
def test_a_write_whose_reply_is_lost_knows_itself(
    world: World, story: Story, subtests: pytest.Subtests
) -> None:
    for number, call in enumerate(clean(world, story).calls, 1):
        if call.partition("-")[0] in CONDITIONAL:
            for kind in (Kind.LOST, Kind.DIED):
                with subtests.test(f"{number:02}-{call}-{kind}"):
                    struck(world, story, Fault(number, kind))
