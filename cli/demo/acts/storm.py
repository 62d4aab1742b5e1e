"""A vendor that says 429."""

from __future__ import annotations

from cli.demo import asks
from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage
from cli.demo.vendor import Call

MODEL = "chat-claude"
JOBS = 10
REFUSED = 5
"""Fewer than the jobs: each is refused once or twice, and three times would end it."""

RETRY_AFTER = 1


def play(stage: Stage) -> Facts:
    """Post jobs to a vendor that turns the first calls away."""
    before = stage.vendor.calls()
    stage.vendor.fail(MODEL, 429, REFUSED, RETRY_AFTER)
    seen = stage.counter("posts answered", JOBS)
    replies = at_once(JOBS, lambda n: stage.partner.post(asks.chat(MODEL, f"Tide no. {n}?")), seen)
    jobs = stage.finished(stage.partner, [reply.job_id for reply in replies])
    calls = stage.vendor.calls_after(before)
    completed = sum(job["status"] == "completed" for job in jobs.values())
    return Facts(
        (
            Check("calls that the vendor answered 429", _throttled(calls), REFUSED),
            Check("vendor calls in all", len(calls), JOBS + REFUSED),
            Check("calls made before the vendor's Retry-After was over", early(calls), 0),
            Check("jobs completed", completed, JOBS),
        )
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


def _throttled(calls: list[Call]) -> int:
    return sum(call.status == 429 for call in calls)


ACT = Act(
    "A storm of 429s",
    f"The vendor turns the first {REFUSED} calls of {JOBS} jobs away with 429 and asks for "
    f"{RETRY_AFTER} s. Each job waits at least as long, tries again, and completes; its partner "
    "sees nothing but a slower job.",
    play,
)
