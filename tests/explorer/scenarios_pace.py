"""Stories of the pace: pauses, probes, slots, deferrals, turns, lanes, the operator's switch."""

from __future__ import annotations

from collections.abc import Callable

from tests.explorer.clients import Post
from tests.explorer.operator_switch import switch
from tests.explorer.story import Scenario
from tests.explorer.world import World


def _switch(
    turn: str, model: str = "chat", seconds: float | None = None
) -> Callable[[World], None]:
    return lambda world: switch(world, turn, model, seconds)


def _wipe(world: World) -> None:
    world.deployed.redis.wipe()


DEFERRED = 10.0
"""Seconds of a deferral, where a probe is out longer than one waits for it."""

OUTAGE = 190.0
"""Seconds of the pauses that failing probes double; the one more that a fault may cost doubles it
again."""

THREE = (("k", 0.0), ("l", 0.012), ("m", 0.024))

PACED = (
    Scenario(
        "the vendor asks to wait: pause, probe, go on",
        (Post("k", "one"), Post("l", "two", at=0.5), Post("m", "three", at=2)),
        script=("429",),
        patience=DEFERRED,
    ),
    Scenario(
        "the probe is refused too",
        (Post("k", "one"), Post("l", "two", at=0.012)),
        script=("429", "429"),
    ),
    Scenario(
        "refused while another call is under way",
        tuple(Post(key, key, at=at) for key, at in (("k", 0), ("l", 0.5), ("m", 1.6), ("n", 1.7))),
        script=("ok", "429"),
        patience=DEFERRED,
    ),
    Scenario(
        "our account is refused",
        (Post("k", "one"), Post("l", "two", at=0.012)),
        script=("account", "429"),
    ),
    Scenario(
        "the vendor fails: the breaker opens, one probe, go on",
        tuple(Post(key, key, at=at, model="frail") for key, at in THREE),
        script=("500", "500"),
        patience=DEFERRED,
        calls=5,
    ),
    Scenario(
        "an outage outlasts every attempt",
        tuple(Post(key, key, at=at, model="frail") for key, at in THREE),
        also=frozenset({"dead_lettered"}),  # where Redis forgets, or one write fails
        script=("500", "timeout", *["500"] * 5),
        patience=OUTAGE,
        calls=10,
    ),
    Scenario(
        "429 outlasts every attempt",
        (Post("k", "one"), Post("l", "two", at=0.012)),
        script=("429",) * 6,
        patience=OUTAGE,
        calls=8,
    ),
    Scenario(
        "one job alone opens no breaker",
        (Post("k", "one", model="frail"), Post("l", "two", at=600, model="frail")),
        script=("500", "500", "500"),
        patience=DEFERRED,
        ends=frozenset({"completed", "dead_lettered"}),
        calls=4,
    ),
    Scenario(
        "one slot is awaited, one is not",
        tuple(
            Post(key, key, at=at, model="paced")
            for key, at in (("k", 0), ("l", 0.012), ("m", 0.024))
        ),
    ),
    Scenario(
        "two partners in line",
        (
            *(Post(key, key, at=at) for key, at in (("k", 0), ("l", 0.012), ("m", 0.024))),
            Post("k", "b", at=0.1, partner="beta"),
        ),
        in_turn=("beta", "acme"),
    ),
    Scenario(
        "priority low",
        (
            Post("k", "one", priority="low"),
            Post("l", "two", at=0.012, priority="low"),
            Post("m", "three", at=0.024),
        ),
        patience=DEFERRED,
    ),
    Scenario(
        "a partner posts too often",
        tuple(Post(f"k{i}", at=i * 0.06, tries=9) for i in range(7)),
        limited=1,
        patience=60.0,  # some more posts, one every 10 s
    ),
    Scenario(
        "an operator pauses and resumes",
        (Post("k", "one"), Post("l", "two", at=1.5)),
        steps=((1.2, _switch("pause")), (30, _switch("resume"))),
    ),
    Scenario(
        "an operator pauses while a slot is awaited",
        (Post("k", "one", model="paced"), Post("l", "two", at=0.012, model="paced")),
        steps=((1, _switch("pause", "paced")), (30, _switch("resume", "paced"))),
    ),
    Scenario(
        "an operator pauses as the first job comes",
        (Post("k", "one", at=0.012),),
        steps=((0.07, _switch("pause", seconds=20.0)),),
        patience=21.0,
    ),
    Scenario(
        "an operator's pause survives Redis",
        (Post("k", "one", at=6),),
        steps=((1, _switch("pause")), (5, _wipe), (40, _switch("resume"))),
    ),
)
