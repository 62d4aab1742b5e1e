"""An operator declares answers void, by the worker function; and what may befall a Redis."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tests.explorer.processes import Context
from tests.explorer.world import AGAIN_MS, World
from tidegate.errors import Conflict
from worker.handler import handle as handle_worker


def invalidate(
    world: World, at: str, model: str | None, partner: str | None, tries: int = 3
) -> None:
    """Have the worker of model `at` declare answers void; again if it did not say it is seen."""
    pool = world.deployed.workers[at]
    process = pool.take()
    doors, entry = process[1]
    waiting = [True]
    context: Any = Context(world.hub, entry.timeouts.function)
    event = {"invalidate": {"model": model, "partner": partner}, "by": "me", "why": "a test"}

    def answered(answer: dict[str, Any] | None) -> None:
        if not waiting:
            return
        waiting.clear()
        if answer is not None and answer["seen"]:
            world.void.append((model, partner, round(answer["since"] * 1000), world.hub.ms))
        elif tries > 1:
            again = world.hub.ms + AGAIN_MS
            world.hub.at(again, lambda: invalidate(world, at, model, partner, tries - 1))

    def ended(answer: dict[str, Any] | None) -> None:
        pool.give(process, dead=answer is None)
        answered(answer)

    def body() -> Any:
        with suppress(Conflict):  # an invocation that failed: the operator hears so
            return handle_worker(event, context, doors, entry)
        return None

    world.hub.at(world.hub.ms + entry.timeouts.function * 1000, lambda: answered(None))
    world.hub.spawn("operator", body, ended)


def replay_at_once(world: World) -> None:
    """Name the jobs for replay that failed at once, for a failure that was remembered."""
    items = world.deployed.store.all("jobs")
    named = [item["id"] for item in items if item.get("cache_status") == "negative"]
    if named:
        world.replay("soft", jobs=named)


def wipe(world: World) -> None:
    """Let Redis lose everything."""
    world.deployed.redis.wipe()


def damage(world: World) -> None:
    """Let answers in Redis be others than were written."""
    values = world.deployed.redis.values
    for key, (value, end) in list(values.items()):
        if key.endswith("}:result"):
            wrong = value.replace("answer to", "answer of")
            world.damaged.add(wrong)
            values[key] = (wrong, end)
