"""Stories of the cache: stale answers, refreshes, directives, invalidation, failures, structure."""

from __future__ import annotations

from collections.abc import Callable

from tests.explorer.clients import Post
from tests.explorer.operator_cache import damage, invalidate, replay_at_once, wipe
from tests.explorer.story import Scenario
from tests.explorer.world import World

STALE = 62.0
"""Seconds after which the first answer of model `soft` is stale."""

LONG = "hello " * 500
"""So that input and answer are stored packed."""

LATE = frozenset({"crash", "error", "lost", "dropped", "stall"})
"""Faults by which a job ends after the next post, which then has nothing to use."""


def _void(
    at: str = "chat", model: str | None = "chat", partner: str | None = None
) -> Callable[[World], None]:
    return lambda world: invalidate(world, at, model, partner)


def _soft(key: str, at: float, cache_control: str | None = None) -> Post:
    return Post(key, at=at, model="soft", cache_control=cache_control)


CACHED = (
    Scenario(
        "stale for two at once",
        (_soft("k", 0), _soft("l", STALE), _soft("m", STALE + 0.012), _soft("n", 130)),
        found={"miss": 1, "stale": 3},
        refreshes=2,
        calls=3,
    ),
    Scenario(
        "stale, and ended while it is made anew",
        tuple(Post(key, at=at, model="brief") for key, at in (("k", 0), ("l", 62.5), ("m", 63.3))),
        found={"miss": 1, "stale": 1, "hit": 1},
        refreshes=1,
        calls=2,
        extra=LATE,  # what the refresh has staged is not the partner's; answers end in a minute
    ),
    Scenario(
        "stale, and the vendor refuses",
        tuple(map(_soft, "klmno", (0, STALE, 100, 370, 380))),
        script=("ok", "refused", "refused"),
        ends=frozenset({"completed", "failed"}),
        found={"miss": 1, "stale": 4},
        refreshes=2,
        calls=3,
        patience=310.0,
        extra=frozenset({"wiped"}),  # the pause is in Redis alone
    ),
    Scenario(
        "stale, and the new answer fails the gate",
        tuple(map(_soft, "klm", (0, STALE, 100))),
        script=("ok", "invalid"),
        ends=frozenset({"completed", "quarantined"}),
        found={"miss": 1, "stale": 2},
        refreshes=1,
        calls=2,
        extra=frozenset({"wiped"}),
    ),
    Scenario(
        "stale, and Redis was emptied",
        tuple(
            Post(key, LONG, at=at, model="soft") for key, at in (("k", 0), ("l", STALE), ("m", 70))
        ),
        steps=((61, wipe),),
        found={"miss": 1, "stale": 1, "hit": 1},
        refreshes=1,
        calls=2,
    ),
    Scenario(
        "an answer is damaged in Redis",
        (Post("k"), Post("l", at=10)),
        steps=((5, damage),),
        found={"miss": 1, "hit": 1},
        calls=1,
    ),
    Scenario(
        "no-cache beside an answer and a running job",
        (
            Post("k"),
            Post("l", at=10, cache_control="no-cache"),
            Post("m", at=10.5, cache_control="no-cache"),
            Post("n", at=30),
        ),
        found={"miss": 1, "request": 1, "hit": 1},
        calls=2,
        extra=frozenset({"stall"}),  # asleep, it wakes up to an answer of before it was sent
    ),
    Scenario(
        "no-cache while a job waits for a refresh",
        (
            *(Post(key, at=at, model="brief") for key, at in (("k", 0), ("l", 62.5), ("m", 63.3))),
            Post("n", at=66, model="brief", cache_control="no-cache"),
        ),
        refreshes=1,
        calls=3,
        extra=frozenset({"stall"}),
    ),
    Scenario(
        "no-store",
        (
            Post("k", cache_control="no-store"),
            Post("l", at=0.012),
            Post("m", at=10, cache_control="no-store"),
            Post("n", at=20),
        ),
        found={"request": 2, "miss": 1, "hit": 1},
        calls=3,
    ),
    Scenario(
        "declared void beside a running job",
        (Post("k"), Post("l", at=0.7), Post("m", at=30)),
        steps=((0.5, _void()),),
        found={"miss": 2, "hit": 1},
        calls=2,
        extra=frozenset({"lost"}),  # the operator says it once more, a little later
    ),
    Scenario(
        "declared void while a request learns the epochs",
        (Post("k"), Post("l", at=302), Post("m", at=305), Post("n", at=610)),
        steps=((302.012, _void()),),
        found={"miss": 2, "hit": 2},
        calls=2,
    ),
    Scenario(
        "one partner's answers are void where all share them",
        (
            Post("k", model="shared"),
            Post("k", model="shared", partner="beta", at=0.012),
            Post("l", model="shared", partner="beta", at=4),
        ),
        steps=((3, _void("shared", None, "beta")),),
        calls=2,
    ),
    Scenario(
        "shared work, and its leader dies",
        (Post("k", model="shared"), Post("k", model="shared", partner="beta", at=0.012)),
        script=("crash",),
        calls=2,
        patience=10.0,
    ),
    Scenario(
        "refused twice, then not tried for a while",
        tuple(map(_soft, "klmn", (0, 10, 20, 75))),
        steps=((30, replay_at_once),),
        script=("refused", "refused"),
        ends=frozenset({"completed", "failed"}),
        found={"miss": 3, "negative": 1},
        calls=3,
    ),
    Scenario(
        "the same code under two names",
        (
            Post("k", "def f(x):\n    return x + 1\n", model="code"),
            Post("l", "def f(y):\n    return y + 1\n", at=200, model="code"),
            Post("m", "def f(y):\n    return y + 1\n", at=210, model="code"),
        ),
        found={"miss": 1, "hit": 2},
        calls=1,
    ),
)
