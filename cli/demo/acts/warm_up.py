"""Starting enough of the api function that a burst meets it as it would in the cloud."""

from __future__ import annotations

import time

from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

WAVES = (4, 8, 16, 32, 50)
WARM = 1.0
"""Seconds within which fifty requests are answered by a function that is warm."""

MOST = 8
"""How many waves of the last size are sent at most; a slow machine is not a failure."""


def play(stage: Stage) -> Facts:
    """Send growing waves of harmless requests until the last size is answered promptly."""
    statuses: list[int] = []
    waves = [*WAVES, *[WAVES[-1]] * (MOST - 1)]
    for wave in waves:
        begun = time.monotonic()
        seen = stage.counter("requests answered", wave)
        statuses += at_once(wave, lambda _: stage.partner.get("/v1/models").status_code, seen)
        took = time.monotonic() - begun
        if wave == WAVES[-1] and took < WARM:
            break
    return Facts(
        (Check("requests that were not answered 200", sum(s != 200 for s in statuses), 0),),
        (f"the last {wave} simultaneous requests were all answered within {took:.2f} s",),
    )


ACT = Act(
    "Warm-up",
    "The emulator starts Lambda processes one by one, which takes seconds on a laptop and would "
    "blur the burst below. On AWS nobody needs to do this.",
    play,
)
