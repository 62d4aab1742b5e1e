"""Stories of the cache: as those of `stories.py`, which has them among its own."""

from __future__ import annotations

import json
from typing import Any

from tests.contract.caching import void
from tests.contract.jobs import EXTRACT, REPORT
from tests.contract.test_accept import BODY
from tests.contract.world import World, at_vendor
from tests.fakes import answer
from tidegate.doors.valkey import REST
from tidegate.flows.refresh import PAUSE

CODE: dict[str, Any] = {
    "model": "code-command",
    "input": {"instruction": "Keep it.", "language": "python", "code": "def f(a):\n    return a\n"},
}


def refreshed(world: World) -> None:
    """Served stale, and made anew; if that could not be begun, by a hit after the pause."""
    world.vendor.otherwise = lambda _call: answer(json.dumps(REPORT))
    with world.wire.unwatched():
        world.post(EXTRACT, "first")
        world.settle()
    world.wait(world.pipeline.models.models[EXTRACT["model"]].cache.soft_ttl or 0)
    assert world.post(EXTRACT, "stale").json["cache"]["stale"]
    with world.wire.unwatched():
        world.settle()
        world.wait(PAUSE)
        world.post(EXTRACT, "later")
        world.settle()
        assert not world.post(EXTRACT, "last").json["cache"]["stale"]


def invalidated(world: World) -> None:
    """An operator declares answers void, and does so again to be sure; then there is none."""
    with world.wire.unwatched():
        world.post(BODY, "first")
        world.settle()
    for _ in range(2):
        world.wait(REST)
        world.operate(lambda: void(world.pipeline, model=BODY["model"]))
    with world.wire.unwatched():
        assert world.post(BODY, "anew").json["source"] is None
        world.settle()


def past_the_cache(world: World) -> None:
    """One asks past the cache and its answer serves the next; one wants nothing kept."""
    with world.wire.unwatched():
        world.post(BODY, "first")
        world.settle()
    at_vendor(world, lambda _call: answer("past"), range(3, 4))
    for said in ("no-cache", "no-store"):
        world.wait(1)
        world.post(BODY, said, Cache_Control=said)
        world.settle()
    with world.wire.unwatched():
        assert world.post(BODY, "hit").json["source"] == "cache"


def renamed(world: World) -> None:
    """A hit in the names of who asks: it holds an output of its own."""
    world.vendor.otherwise = lambda call: answer(call.input["code"])
    with world.wire.unwatched():
        world.post(CODE, "first")
        world.settle()
    names = {**CODE, "input": {**CODE["input"], "code": "def f(b):\n    return b\n"}}
    hit = world.post(names, "renamed").json
    assert hit["output"] == {"text": "def f(b):\n    return b\n"}
    world.ask("GET", f"/v1/jobs/{hit['id']}/result")
