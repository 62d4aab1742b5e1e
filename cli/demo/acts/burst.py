"""Many clients ask for the same thing at the same moment."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass

from cli.demo import asks
from cli.demo.asks import Ask
from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.partner import How, Reply, new_key
from cli.demo.stage import Act, Stage

CLIENTS = 50
MODEL = "chat-mini"
VENDOR_SECONDS = 2.5
"""How long the vendor thinks about a burst, so that the work is under way while all arrive."""


@dataclass(frozen=True, slots=True)
class Burst:
    """What became of one burst."""

    hows: Counter[How]
    jobs: int
    """Distinct jobs the clients were pointed at."""
    calls: int
    alike: int
    """Clients that read the same answer."""
    seconds: float
    """Until the last client had its reply."""

    def note(self, what: str) -> str:
        """Return how its requests were taken."""
        hows = ", ".join(f"{count} {how}" for how, count in sorted(self.hows.items()))
        return f"{what}: all {CLIENTS} accepted within {self.seconds:.1f} s: {hows}"


def play(stage: Stage) -> Facts:
    """Play the burst under one key, then under as many keys as clients."""
    one_key = new_key()
    slogan = asks.chat(MODEL, "Write a slogan for a lighthouse.")
    rhyme = asks.chat(MODEL, "Write a rhyme about a harbour.")
    same = _burst(stage, slogan, [one_key] * CLIENTS)
    own = _burst(stage, rhyme, [new_key() for _ in range(CLIENTS)])
    before = stage.vendor.calls()
    repeated = stage.partner.post(slogan, one_key)
    fresh = stage.partner.post(rhyme)
    lookup = repeated.headers.get("x-cache-lookup")
    return Facts(
        (
            Check("one key: jobs", same.jobs, 1),
            Check("one key: vendor calls", same.calls, 1),
            Check("one key: clients that read the same answer", same.alike, CLIENTS),
            Check("own keys: vendor calls", own.calls, 1),
            Check("own keys: clients that read the same answer", own.alike, CLIENTS),
            Check("afterwards, same key again: X-Cache-Lookup", lookup, "HIT-IDEMPOTENT"),
            Check("afterwards, a new key: source", fresh.body.get("source"), "cache"),
            Check("vendor calls for these two", len(stage.vendor.calls_after(before)), 0),
        ),
        (same.note("one key"), own.note("own keys")),
    )


def _burst(stage: Stage, ask: Ask, keys: list[str]) -> Burst:
    before = stage.vendor.calls()
    stage.vendor.delay(MODEL, VENDOR_SECONDS)
    begun = time.monotonic()
    seen = stage.counter("posts answered", CLIENTS)
    replies = at_once(CLIENTS, lambda client: stage.partner.post(ask, keys[client]), seen)
    seconds = time.monotonic() - begun
    jobs = stage.finished(stage.partner, [reply.job_id for reply in replies])
    read = stage.counter("answers read", CLIENTS)
    answers = at_once(CLIENTS, lambda client: _answer(stage, replies[client]), read)
    return Burst(
        hows=Counter(reply.how for reply in replies),
        jobs=len(jobs),
        calls=len(stage.vendor.calls_after(before)),
        alike=_most_alike(answers),
        seconds=seconds,
    )


def _answer(stage: Stage, reply: Reply) -> str:
    return json.dumps(stage.partner.job(reply.job_id)["output"], sort_keys=True)


def _most_alike(answers: list[str]) -> int:
    """Return how many answers are the most frequent one; no answer at all is none."""
    counts = Counter(answer for answer in answers if answer != "null")
    return max(counts.values(), default=0)


ACT = Act(
    "A burst of the same request",
    f"{CLIENTS} clients post the same body at the same moment: first all under one "
    f"Idempotency-Key (one client's retries), then each under its own (as many users with one "
    "question). Each time the vendor must be called exactly once.",
    play,
)
