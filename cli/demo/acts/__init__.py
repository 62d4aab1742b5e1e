"""The acts of the demo, in the order in which they are played."""

from __future__ import annotations

from cli.demo.acts import (
    burst,
    cache,
    dead_letter,
    every_model,
    hallucination,
    outage,
    poison,
    refusals,
    replay,
    spread,
    storm,
    turns,
    warm_up,
)
from cli.demo.stage import Act

ACTS: tuple[Act, ...] = (
    warm_up.ACT,
    every_model.ACT,
    burst.ACT,
    spread.ACT,
    cache.ACT,
    storm.ACT,
    turns.ACT,
    hallucination.ACT,
    dead_letter.ACT,
    outage.ACT,
    replay.ACT,
    poison.ACT,
    refusals.ACT,
)
