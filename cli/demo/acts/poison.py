"""A message that is not ours, among some that are."""

from __future__ import annotations

from cli.demo import asks
from cli.demo.books import await_that
from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

MODEL = "chat-mini"
POISON = "{this is not JSON"
JOBS = 6


def play(stage: Stage) -> Facts:
    """Put a body into a queue by hand that no worker can read, and jobs right behind it."""
    before = stage.vendor.calls()
    dlq = stage.info.dlqs[MODEL]
    stage.books.send(stage.info.queues[MODEL], POISON)
    seen = stage.counter("posts answered", JOBS)
    replies = at_once(JOBS, lambda n: stage.partner.post(asks.chat(MODEL, f"Buoy no. {n}?")), seen)
    jobs = stage.finished(stage.partner, [reply.job_id for reply in replies])
    stage.progress("waiting until the poison is in the DLQ", 1, 2)
    await_that(lambda: POISON in stage.books.bodies(dlq), "the poison message in the DLQ")
    completed = sum(job["status"] == "completed" for job in jobs.values())
    return Facts(
        (
            Check("jobs behind it that completed", completed, JOBS),
            Check("vendor calls", len(stage.vendor.calls_after(before)), JOBS),
            Check("poison messages in the DLQ", stage.books.bodies(dlq).count(POISON), 1),
        )
    )


ACT = Act(
    "A poison message",
    f"Somebody puts {POISON!r} into a model's queue by hand, and {JOBS} ordinary jobs follow. "
    "They must not notice; the message must end in the DLQ.",
    play,
)
