"""The one that many wait for is killed: one call more at most, and everybody has an answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto.core.models import MockAWS

from tests.contract import books
from tests.contract.caching import CHAT, chat
from tests.contract.world import World, deployed
from tests.fakes import answer
from tidegate.vendors.base import VendorAnswer, VendorCall

MANY = 40


@pytest.fixture(scope="module")
def world(_moto: MockAWS, redis_single: str) -> Iterator[World]:
    with deployed(_moto, redis_single) as made_one:
        yield made_one


@pytest.mark.parametrize("answered", [False, True], ids=["in the call", "after the call"])
def test_a_leader_that_is_killed_costs_one_call_more_at_most(world: World, answered: bool) -> None:
    world.begin()
    deaths: list[VendorCall] = []

    def call(asked: VendorCall) -> VendorAnswer:
        if not deaths:
            deaths.append(asked)
            if not answered:
                world.wire.die()
        return answer("late" if len(deaths) == 1 else "again")

    world.vendor.otherwise = call
    ids = {world.post(chat(), f"k-{n}").json["id"] for n in range(MANY)}
    if answered:
        _dies_at_its_end(world)
    world.settle()
    assert len(ids) == 1
    assert len(world.vendor.calls) == (1 if answered else 2)
    for n in range(MANY):
        assert world.post(chat(), f"k-{n}").json["output"] == {"text": "late"}
    books.check(world.pipeline)


def _dies_at_its_end(world: World) -> None:
    """Let the first worker die when it has staged its answer and would complete the job."""
    complete = "tidegate.doors.endings.Endings.complete"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(complete, lambda *_args, **_named: world.wire.die())
        assert world.deliver(CHAT) == 1
    assert world.wire.struck
