"""The whole way with Redis in trouble at every call to it: nothing lost, nothing charged twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from moto.core.models import MockAWS

from tests.contract import stories, stories_cache
from tests.contract.redis_proxy import Proxy, Trouble, before
from tests.contract.strike import Story, clean, same_end
from tests.contract.world import World, deployed

Call = Callable[[], Any]


@pytest.fixture(scope="module")
def proxied(_moto: MockAWS, redis_node: str) -> Iterator[tuple[World, Proxy]]:
    with before(redis_node) as (proxy, url), deployed(_moto, redis_node, url) as world:
        yield world, proxy


def reply_lost(_world: World, proxy: Proxy, call: Call) -> Any:
    proxy.next(Trouble.LOST)
    return call()


def never_answered(_world: World, proxy: Proxy, call: Call) -> Any:
    """Executed at every try, and the door gives up."""
    proxy.next(Trouble.LOST, 2)
    return call()


def out_of_reach(_world: World, proxy: Proxy, call: Call) -> Any:
    """Not executed, and left alone for a moment after."""
    proxy.next(Trouble.CUT, 2)
    return call()


def wiped(world: World, _proxy: Proxy, call: Call) -> Any:
    world.wipe_redis()
    return call()


def died(world: World, _proxy: Proxy, call: Call) -> Any:
    """Executed, and the process that asked is dead."""
    call()
    world.wire.die()


def died_and_wiped(world: World, _proxy: Proxy, call: Call) -> Any:
    """The process is dead, and whatever it left in Redis is gone."""
    call()
    world.wipe_redis()
    world.wire.die()


HARMLESS = (reply_lost, never_answered, out_of_reach, wiped)
"""After these nothing is paid for a second time."""


@pytest.mark.parametrize(
    "story",
    [
        stories.answered, stories.tried_again, stories.quarantined, stories.cancelled_at_work,
        stories_cache.refreshed, stories_cache.invalidated, stories_cache.renamed,
    ],
    ids=lambda story: story.__name__,
)  # fmt: skip
@pytest.mark.parametrize(
    "trouble", [*HARMLESS, died, died_and_wiped], ids=lambda trouble: trouble.__name__
)
def test_a_story_ends_the_same_with_redis_in_trouble_at_any_call(
    proxied: tuple[World, Proxy],
    story: Story,
    trouble: Callable[..., Any],
    subtests: pytest.Subtests,
) -> None:
    world, proxy = proxied
    expected = clean(world, story)
    for number, name in enumerate(expected.redis_calls, 1):
        with subtests.test(f"{number:02}-{name}"):
            world.begin()
            world.valkey.fault = number, lambda call: trouble(world, proxy, call)
            story(world)
            assert proxy.spent
            assert world.valkey.calls[number - 1] == name
            same_end(world, expected, extra_calls=0 if trouble in HARMLESS else 1)
