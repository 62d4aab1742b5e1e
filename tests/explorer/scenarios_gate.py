"""Stories of the gate: answers that refer to our data, data out of reach, quarantine, release."""

from __future__ import annotations

from collections.abc import Callable

from tests.explorer.clients import Post
from tests.explorer.operator_quarantine import decide, leave, load, lose
from tests.explorer.story import Scenario
from tests.explorer.world import World

KEPT = frozenset({"quarantined"})
UNKNOWN = ("unknown",)
WAITS = frozenset({"wiped", "lost"})
"""Faults by which an answer is lost that waits in Redis to be judged."""

AT_WORK = 0.5
"""Seconds after which the vendor is at it. What comes before is as in any other story."""

BUSY = 10.0
"""Seconds of a deferral, where a lease is held."""

DECIDED = 10.0
"""Seconds after which an operator decides. What comes before has a story of its own."""


def _report(key: str, at: float = 0.0, text: str = "hello", partner: str = "acme") -> Post:
    return Post(key, text, at=at, partner=partner, model="report")


def _decide(verb: str, by: str = "me") -> Callable[[World], None]:
    return lambda world: decide(world, verb, by)


def _credit(world: World) -> None:
    world.deployed.ledger.credit("acme", "second", 1000, world.hub.now())


RELEASED = (DECIDED, _decide("release"))

REFERRING = (
    Scenario("a report of an account", (_report("k"),), calls=1),
    Scenario(
        "a report of an unknown account",
        (_report("k"), _report("k", at=30)),
        script=("long",),
        ends=KEPT,
        also=frozenset({"completed"}),
        calls=1,
    ),
    Scenario(
        "references out of reach before the call",
        (_report("k"),),
        steps=((0, leave), (25, load)),
        calls=1,
    ),
    Scenario(
        "references out of reach while it is judged",
        (_report("k"),),
        steps=((AT_WORK, leave), (40, load)),
        calls=1,
        extra=WAITS,
        quiet=AT_WORK,
    ),
    Scenario(
        "references out of reach while an unknown account is judged",
        (_report("k"),),
        script=UNKNOWN,
        steps=((AT_WORK, leave), (20, load)),
        ends=KEPT,
        also=frozenset({"completed"}),
        calls=1,
        extra=WAITS,
        quiet=AT_WORK,
    ),
    Scenario(
        "references out of reach after the last start",
        (Post("k", model="rare"),),
        script=("crash",),
        steps=((54.5, leave), (90, load)),
        calls=2,
        last=True,
        quiet=54.5,
    ),
    Scenario(
        "a set is missing until the deadline",
        (Post("k", model="report", deadline=20),),
        steps=((0, lose),),
        ends=frozenset({"expired"}),
        calls=0,
    ),
    Scenario(
        "a set goes missing until the deadline",
        (Post("k", model="report", deadline=20),),
        steps=((AT_WORK, lose),),
        ends=frozenset({"failed"}),
        also=frozenset({"expired"}),
        calls=1,
        extra=WAITS,
        quiet=AT_WORK,
    ),
    Scenario(
        "references out of reach where partners share the work",
        (_report("k"), _report("k", at=0.012, partner="beta")),
        steps=((AT_WORK, leave), (20, load)),
        calls=1,
        extra=WAITS,
        patience=15.0,
        quiet=AT_WORK,
    ),
    Scenario(
        "fewer images than asked for",
        tuple(Post(key, at=at, model="pair") for key, at in (("k", 0), ("l", 20), ("m", 40))),
        script=("fewer",),
        found={"miss": 2, "hit": 1},
        calls=2,
        quiet=AT_WORK,
    ),
)

DECISIONS = (
    Scenario(
        "released",
        (_report("k"), _report("k", at=30, partner="beta"), _report("l", at=50)),
        script=("long",),
        steps=(RELEASED,),
        also=KEPT,
        calls=2,
        found={"miss": 2, "hit": 1},
        quiet=DECIDED,
    ),
    Scenario(
        "released by two at once",
        (_report("k"), _report("k", at=DECIDED + 0.02)),
        script=UNKNOWN,
        steps=(
            RELEASED,
            (DECIDED + 0.012, _decide("release", "you")),
            (DECIDED + 10, _decide("release")),
        ),
        calls=1,
        quiet=DECIDED,
    ),
    Scenario(
        "released and discarded at once",
        (_report("k"),),
        script=UNKNOWN,
        steps=(RELEASED, (DECIDED + 0.004, _decide("discard", "you"))),
        also=KEPT,
        calls=1,
        quiet=DECIDED,
    ),
    Scenario(
        "released while the same work runs",
        (_report("k"), _report("l", at=DECIDED - 0.5)),
        script=UNKNOWN,
        steps=(RELEASED,),
        calls=2,
        quiet=DECIDED,
    ),
    Scenario(
        "released, and asked for again meanwhile",
        (_report("k"), _report("l", at=DECIDED + 0.03)),
        script=UNKNOWN,
        steps=(RELEASED,),
        calls=2,
        patience=BUSY,
        quiet=DECIDED,
    ),
    Scenario(
        "released while another's answer waits to be judged",
        (_report("k"), _report("l", at=DECIDED - 5)),
        script=UNKNOWN,
        steps=((DECIDED - 4.5, leave), RELEASED, (DECIDED + 10, load)),
        calls=2,
        extra=WAITS,
        quiet=DECIDED,
    ),
    Scenario(
        "released, and credits do not reach at first",
        (_report("k"), _report("l", at=4, text="other")),
        script=UNKNOWN,
        steps=(RELEASED, (DECIDED + 5, _credit), (DECIDED + 10, _decide("release"))),
        funds=1999,
        quiet=DECIDED,
    ),
    Scenario(
        "discarded",
        (_report("k"),),
        script=("long",),
        steps=((DECIDED, _decide("discard")),),
        ends=KEPT,
        also=frozenset({"completed"}),
        calls=1,
        quiet=AT_WORK,
    ),
)

GATED = (*REFERRING, *DECISIONS)
