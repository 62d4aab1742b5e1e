"""An operator turns a model's switch: by the worker function, as `tidegate models` does."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import Any

from tests.explorer.processes import Context
from tests.explorer.world import AGAIN_MS, World
from tidegate.errors import Conflict
from worker.handler import handle as handle_worker


def switch(world: World, turn: str, model: str, seconds: float | None, tries: int = 3) -> None:
    """Have a model's worker turn its switch; asked again if it did not say that it is seen."""
    pool = world.deployed.workers[model]
    process = pool.take()
    doors, entry = process[1]
    waiting = [True]
    context: Any = Context(world.hub, entry.timeouts.function)
    if turn != "pause":
        world.off.pop(model, None)

    def answered(answer: dict[str, Any] | None) -> None:
        if not waiting:
            return
        waiting.clear()
        if answer is not None and answer["seen"]:
            if answer["paused"]:
                world.off[model] = (world.hub.ms, (answer["until"] or inf) * 1000)
        elif tries > 1:
            again = world.hub.ms + AGAIN_MS
            world.hub.at(again, lambda: switch(world, turn, model, seconds, tries - 1))

    def ended(answer: dict[str, Any] | None) -> None:
        pool.give(process, dead=answer is None)
        answered(answer)

    def body() -> Any:
        with suppress(Conflict):  # an invocation that failed: the operator hears so
            return handle_worker({"switch": turn, "seconds": seconds}, context, doors, entry)
        return None

    world.hub.at(world.hub.ms + entry.timeouts.function * 1000, lambda: answered(None))
    world.hub.spawn("operator", body, ended)
