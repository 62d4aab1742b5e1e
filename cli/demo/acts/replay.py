"""Jobs that the vendor would not do, and an operator who runs them again."""

from __future__ import annotations

from typing import Any

from cli.demo import asks
from cli.demo.books import await_that
from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

MODEL = "chat-claude"
JOBS = 5
CONFLICT = 409
"""A failure of the request, tried again like any other, but no sign of an outage."""


def play(stage: Stage) -> Facts:
    """Let the vendor refuse some jobs for a while, then replay what is in the DLQ."""
    stage.vendor.fail(MODEL, CONFLICT, None)
    try:
        seen = stage.counter("posts answered", JOBS)
        replies = at_once(
            JOBS, lambda n: stage.partner.post(asks.chat(MODEL, f"Which reef is no. {n}?")), seen
        )
        ids = [reply.job_id for reply in replies]
        given_up = stage.finished(stage.partner, ids)
        dlq = stage.info.dlqs[MODEL]
        stage.progress("waiting until their messages are in the DLQ", 0, JOBS)
        await_that(lambda: stage.books.waiting([dlq]) == JOBS, "the messages in the DLQ")
    finally:
        stage.vendor.behave()
    stage.progress("tidegate dlq replay", 0, JOBS)
    before = stage.vendor.calls()
    replayed = stage.operator.replay(MODEL, "vendor_failed")
    done = stage.finished(stage.partner, ids)
    again = stage.operator.replay(MODEL, "vendor_failed")
    return Facts(
        (
            Check("dead-lettered after their attempts", _ended(given_up, "dead_lettered"), JOBS),
            Check("micro-credits they cost so far", _charged(given_up), 0),
            Check("replayed by the operator", replayed["replayed"], JOBS),
            Check("completed now, under their first ids", _ended(done, "completed"), JOBS),
            Check("vendor calls for that", len(stage.vendor.calls_after(before)), JOBS),
            Check("messages left in the DLQ", stage.books.waiting([dlq]), 0),
            Check("replayed by a second replay of all", again["replayed"], 0),
        ),
        (f"charged for the {JOBS}, once each: {_charged(done)} micro-credits",),
    )


def _ended(jobs: dict[str, dict[str, Any]], status: str) -> int:
    return sum(job["status"] == status for job in jobs.values())


def _charged(jobs: dict[str, dict[str, Any]]) -> int:
    return sum(int(job["price"]["charged_micro_credits"]) for job in jobs.values())


ACT = Act(
    "Dead letters, and a replay",
    f"The vendor answers {CONFLICT} to {JOBS} jobs until their attempts are used up. Once it takes "
    "them the operator runs the whole dead-letter queue again: each job begins anew under its own "
    "id, with a new reservation, and a second replay finds nothing to do.",
    play,
)
