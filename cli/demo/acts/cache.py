"""What the cache answers, what it makes anew, and what it forgets when an operator says so."""

from __future__ import annotations

import time
from typing import Any

from cli.demo import asks
from cli.demo.asks import Ask
from cli.demo.books import LOOK, await_that
from cli.demo.facts import Check, Facts
from cli.demo.partner import Reply
from cli.demo.stage import FRESH, SOON_STALE, Act, Stage

CHAT, CODE = "chat-mini", "code-command"
CALLS = 4
"""Vendor calls before anything is stale: an image, a question twice, some code."""

CHANGE = "Print the sum before it is returned."
CODE_ASKED = "def add(a, b):\n    total = a + b\n    return total\n"
CODE_ANSWER = "def add(a, b):\n    total = a + b\n    print(total)\n    return total\n"
IN_ANOTHER_HAND = "def add(x,y):\n  # of both\n  both = x+y\n  return both"
ITS_ANSWER = "def add(x, y):\n    both = x + y\n    print(both)\n    return both\n"


def play(stage: Stage) -> Facts:
    """Ask again in three ways, then for what was declared void, then for what is stale."""
    before = stage.vendor.calls()
    buoy = asks.image(SOON_STALE, "A buoy in fog, ink on paper")
    river = asks.chat(CHAT, "Which river is the longest?")
    stage.progress("a picture, and a question", 0, 5)
    picture, first = _made(stage, buoy), _made(stage, river)
    stage.progress("the same question", 1, 5)
    begun = time.monotonic()
    hit = stage.partner.post(river).body
    took = time.monotonic() - begun
    stage.progress("code in another hand", 2, 5)
    stage.vendor.reply(CODE, CODE_ANSWER)
    _made(stage, asks.code(CODE, CHANGE, CODE_ASKED))
    hand = stage.partner.post(asks.code(CODE, CHANGE, IN_ANOTHER_HAND)).body
    stage.progress("tidegate cache invalidate", 3, 5)
    stage.operator.invalidate(CHAT, stage.info.partners[0].id, "a demonstration")
    anew = _made(stage, river)
    calls = len(stage.vendor.calls_after(before))
    stage.progress("waiting until the picture is stale", 4, 5)
    await_that(lambda: stage.partner.job(picture["id"])["cache"]["age_seconds"] >= FRESH, "age")
    stale = stage.partner.post(buoy).body
    fresh = _fresh(stage, buoy)
    return Facts(
        (
            Check("the same under a new key: source", hit["source"], "cache"),
            Check("micro-credits it cost", hit["price"]["charged_micro_credits"], 0),
            Check("code with other names and layout: source", hand["source"], "cache"),
            Check("its answer is in its own names", hand["output"] == {"text": ITS_ANSWER}, True),
            Check("declared void and asked again: source", anew["source"], "vendor"),
            Check("vendor calls so far", calls, CALLS),
            Check("a stale answer is served, and marked", _seen(stale), "cache, stale"),
            Check("a moment later: fresh, and from the cache", _seen(fresh), "cache, fresh"),
            Check("vendor calls for that", len(stage.vendor.calls_after(before)) - calls, 1),
        ),
        (
            f"from the vendor in {first['seconds']:.2f} s, from the cache in {took:.2f} s",
            f"{SOON_STALE}'s answers are stale after {FRESH} s here; the operator renews them",
        ),
    )


def _made(stage: Stage, ask: Ask) -> dict[str, Any]:
    """Return a job that is done, and how long it took its partner."""
    begun = time.monotonic()
    job = stage.partner.finished(stage.partner.post(ask).job_id)
    return {**job, "seconds": time.monotonic() - begun}


def _fresh(stage: Stage, ask: Ask) -> dict[str, Any]:
    """Return the answer once it is fresh again."""
    found: list[Reply] = []

    def fresh() -> bool:
        found.append(stage.partner.post(ask))
        return not found[-1].body["cache"]["stale"]

    time.sleep(LOOK)
    await_that(fresh, "a fresh answer")
    return found[-1].body


def _seen(job: dict[str, Any]) -> str:
    return f"{job['source']}, {'stale' if job['cache']['stale'] else 'fresh'}"


ACT = Act(
    "Asked again",
    "A finished answer serves again: for the same question, and for code that differs in layout "
    "and the names of local variables, which it is given back with. The operator declares a "
    "partner's answers void with one command. A stale answer is served at once, and made anew "
    "behind it.",
    play,
)
