"""An operator declares answers void, by the worker function; and what may befall a Redis."""

from __future__ import annotations

from typing import Any

from tests.explorer.operator_asks import ask
from tests.explorer.world import World


def invalidate(world: World, at: str, model: str | None, partner: str | None) -> None:
    """Have the worker of model `at` declare answers void; again if it did not say it is seen."""
    event = {"invalidate": {"model": model, "partner": partner}, "by": "me", "why": "a test"}

    def seen(answer: dict[str, Any]) -> None:
        world.void.append((model, partner, round(answer["since"] * 1000), world.hub.ms))

    ask(world, at, event, seen)


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
