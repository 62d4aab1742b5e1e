"""Ordinary traffic: much that is new, some that is not, of two partners and four models."""

from __future__ import annotations

from collections import Counter

from cli.demo import asks
from cli.demo.asks import Ask
from cli.demo.crowd import side_by_side
from cli.demo.facts import Check, Facts
from cli.demo.partner import PartnerClient, Reply
from cli.demo.stage import Act, Stage

DISTINCT = 40
REPEATED = 20
CLIENTS = 12
STRIDE = 37
"""Mixes repeats among the rest; has no divisor in common with their number."""

Sent = tuple[PartnerClient, Ask]


def play(stage: Stage) -> Facts:
    """Send everything from a dozen clients, wait for every job."""
    before = stage.vendor.calls()
    total = DISTINCT + REPEATED
    work = [
        (stage.partners[number % len(stage.partners)], _ask(number)) for number in range(DISTINCT)
    ]
    work += work[:REPEATED]
    mixed = [work[turn * STRIDE % total] for turn in range(total)]
    seen = stage.counter("posts answered", total)
    replies = side_by_side(_post, mixed, CLIENTS, seen)
    completed = 0
    for partner in stage.partners:
        own = [r.job_id for (p, _), r in zip(mixed, replies, strict=True) if p is partner]
        jobs = stage.finished(partner, own)
        completed += sum(jobs[job_id]["status"] == "completed" for job_id in own)
    hows = Counter(reply.how for reply in replies)
    return Facts(
        (
            Check(f"requests of {total} that were answered", completed, total),
            Check("vendor calls", len(stage.vendor.calls_after(before)), DISTINCT),
        ),
        (", ".join(f"{count} {how}" for how, count in sorted(hows.items())),),
    )


def _post(sent: Sent) -> Reply:
    partner, ask = sent
    return partner.post(ask)


def _ask(number: int) -> Ask:
    """Return one of `DISTINCT` different requests."""
    kind = number // 2 % 5
    if kind == 0:
        return asks.code("code-command", "Add a docstring.", f"def f{number}(x):\n    return x")
    if kind == 1:
        return asks.extract("risk-report", f"Account {4000 + number} was opened yesterday.")
    if kind == 2:
        return asks.chat("chat-claude", f"Name a harbour, number {number}.")
    return asks.chat("chat-mini", f"Name a lighthouse, number {number}.")


ACT = Act(
    "A day's traffic in a few seconds",
    f"{DISTINCT} distinct requests of two partners to four models, and {REPEATED} of them once "
    f"more under new keys, all mixed. Repeats must cost no call.",
    play,
)
