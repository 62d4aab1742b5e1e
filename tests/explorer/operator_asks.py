"""An operator asks a model's worker for something, and again if it did not say it is seen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.explorer.processes import Context
from tests.explorer.world import AGAIN_MS, World
from tidegate.errors import Conflict
from worker.handler import handle as handle_worker

TRIES = 3


def ask(
    world: World,
    model: str,
    event: dict[str, Any],
    seen: Callable[[dict[str, Any]], None],
    *,
    first: Callable[[], None] = lambda: None,
    tries: int = TRIES,
) -> None:
    """Invoke the worker of a model; `seen` is given the answer once it says so.

    `first` is done at the beginning of each try.
    """
    pool = world.deployed.workers[model]
    process = pool.take()
    doors, entry = process[1]
    waiting = [True]
    context: Any = Context(world.hub, entry.timeouts.function)
    first()

    def answered(answer: dict[str, Any] | None) -> None:
        if not waiting:
            return
        waiting.clear()
        if answer is not None and answer["seen"]:
            seen(answer)
        elif tries > 1:
            again = world.hub.ms + AGAIN_MS
            world.hub.at(
                again, lambda: ask(world, model, event, seen, first=first, tries=tries - 1)
            )

    def ended(answer: dict[str, Any] | None) -> None:
        pool.give(process, dead=answer is None)
        answered(answer)

    def body() -> Any:
        with suppress(Conflict):  # an invocation that failed: the operator hears so
            return handle_worker(event, context, doors, entry)
        return None

    world.hub.at(world.hub.ms + entry.timeouts.function * 1000, lambda: answered(None))
    world.hub.spawn("operator", body, ended)
