"""A vendor that says 429 to everything."""

from __future__ import annotations

from cli.demo import asks
from cli.demo.books import await_that
from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage
from cli.demo.vendor import Call

MODEL = "chat-claude"
JOBS = 10
RETRY_AFTER = 4
"""Seconds; the vendor is well again before they are over, so no job is refused twice."""


def play(stage: Stage) -> Facts:
    """Post jobs to a vendor that turns every call away, until the first has been."""
    before = stage.vendor.calls()
    places = stage.models[MODEL].in_flight
    stage.vendor.fail(MODEL, 429, None, RETRY_AFTER)
    try:
        seen = stage.counter("posts answered", JOBS)
        replies = at_once(JOBS, lambda n: stage.partner.post(_ask(n)), seen)
        await_that(lambda: bool(stage.vendor.calls_after(before)), "the vendor's first 429")
    finally:
        stage.vendor.behave()
    jobs = stage.finished(stage.partner, [reply.job_id for reply in replies])
    calls = sorted(stage.vendor.calls_after(before), key=lambda call: call.started_at)
    refused = [call for call in calls if call.status == 429]
    later = [call for call in calls if call.started_at >= refused[0].ended_at + RETRY_AFTER]
    beside = [call for call in later[1:] if call.started_at < later[0].ended_at]
    completed = sum(job["status"] == "completed" for job in jobs.values())
    few = len(calls) - len(later) <= places
    return Facts(
        (
            Check(f"calls until the vendor's time was over: {places} at most", few, True),
            Check("calls beside the first one after it, the probe", len(beside), 0),
            Check("calls that repeat a refused one too early", early(calls), 0),
            Check("vendor calls in all", len(calls), JOBS + len(refused)),
            Check("jobs completed", completed, JOBS),
        ),
        (f"{JOBS} jobs, {places} calls at once; refused by the vendor: {len(refused)}",),
    )


def early(calls: list[Call]) -> int:
    """Return how many calls repeat a refused one sooner than the vendor asked for."""
    count = 0
    last: dict[str, Call] = {}
    for call in calls:
        previous = last.get(call.work)
        if previous is not None:
            count += call.started_at < previous.ended_at + (previous.retry_after or 0)
        last[call.work] = call
    return count


def _ask(number: int) -> asks.Ask:
    return asks.chat(MODEL, f"Tide no. {number}?")


ACT = Act(
    "A storm of 429s",
    f"The vendor turns every call away with 429 and asks for {RETRY_AFTER} s. The first refusal "
    "pauses the model for all its workers: only calls already under way are refused besides. Then "
    "one call tries alone, the rest follow, and partners see nothing but slower jobs.",
    play,
)
