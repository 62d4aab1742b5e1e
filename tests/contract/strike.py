"""A story with a fault, held against the same story without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.contract.faults import Fault, Kind
from tests.contract.picture import Picture, taken, unnoticed
from tests.contract.world import World

Story = Callable[[World], None]

UNRECORDED = {"assets.put", "attempts.fail", "attempts.put_back", "endings.end"}
"""Calls before which nothing durable says what the vendor answered: a second call may be needed."""


RECOVERY = 120.0
"""Seconds by which a single fault may delay the end: a visibility timeout, then a sweep."""


@dataclass(frozen=True)
class Clean:
    """A story without a fault."""

    calls: tuple[str, ...]
    redis_calls: tuple[str, ...]
    vendor_calls: int
    picture: Picture
    unnoticed: object
    seconds: float


@cache
def clean(world: World, story: Story) -> Clean:
    """Run a story without a fault, once."""
    world.begin()
    story(world)
    calls, redis_calls = tuple(world.wire.calls), tuple(world.valkey.calls)
    vendor_calls, seen = len(world.vendor.calls), unnoticed(world)
    return Clean(calls, redis_calls, vendor_calls, taken(world), seen, world.passed)


def struck(world: World, story: Story, fault: Fault) -> None:
    """Run a story with one fault at a call to AWS; its end must be the same."""
    expected = clean(world, story)
    name = expected.calls[fault.number - 1]
    world.begin(fault)
    story(world)
    assert world.wire.calls[fault.number - 1] == name
    harmless = fault.kind in {Kind.LOST, Kind.BUSY} or name.partition("-")[2] not in UNRECORDED
    same_end(world, expected, extra_calls=0 if harmless else 1)
    if fault.kind in {Kind.LOST, Kind.BUSY}:
        assert unnoticed(world) == expected.unnoticed


def same_end(world: World, expected: Clean, extra_calls: int) -> None:
    """Hold the end of a story with a fault against that without."""
    assert world.wire.struck
    assert world.passed <= expected.seconds + RECOVERY
    assert taken(world) == expected.picture
    assert len(world.vendor.calls) <= expected.vendor_calls + extra_calls
