"""An operator turns a model's switch: by the worker function, as `tidegate models` does."""

from __future__ import annotations

from math import inf
from typing import Any

from tests.explorer.operator_asks import ask
from tests.explorer.world import World


def switch(world: World, turn: str, model: str, seconds: float | None) -> None:
    """Have a model's worker turn its switch; asked again if it did not say that it is seen."""

    def first() -> None:
        if turn != "pause":
            world.off.pop(model, None)

    def seen(answer: dict[str, Any]) -> None:
        if answer["paused"]:
            world.off[model] = (world.hub.ms, (answer["until"] or inf) * 1000)

    ask(world, model, {"switch": turn, "seconds": seconds}, seen, first=first)
