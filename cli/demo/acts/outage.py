"""An outage of the vendor that costs a handful of calls, and no job."""

from __future__ import annotations

import time

from cli.demo import asks
from cli.demo.crowd import at_once
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

MODEL = "chat-claude"
JOBS = 12
OUTAGE = 8.0
"""Seconds."""


def play(stage: Stage) -> Facts:
    """Let the vendor answer 500 for some seconds while jobs wait."""
    before = stage.vendor.calls()
    breaker, places = stage.models[MODEL].breaker, stage.models[MODEL].in_flight
    stage.vendor.fail(MODEL, 500, None)
    try:
        seen = stage.counter("posts answered", JOBS)
        replies = at_once(
            JOBS, lambda n: stage.partner.post(asks.chat(MODEL, f"Which tide is no. {n}?")), seen
        )
        stage.progress("the vendor is down", 0, JOBS)
        time.sleep(OUTAGE)
        during = len(stage.vendor.calls_after(before))
    finally:
        stage.vendor.behave()
    well_at = time.monotonic()
    jobs = stage.finished(stage.partner, [reply.job_id for reply in replies])
    took = time.monotonic() - well_at
    completed = sum(job["status"] == "completed" for job in jobs.values())
    most = breaker.failures + places + PROBES
    return Facts(
        (
            Check(f"calls while it is down: {most} at most", during <= most, True),
            Check("jobs completed", completed, JOBS),
            Check("jobs dead-lettered", JOBS - completed, 0),
        ),
        (f"{during} calls while it was down; all done {took:.0f} s after it was well again",),
    )


PROBES = 3
"""After 2 s, 4 s and 8 s: more than the outage has."""


ACT = Act(
    "An outage",
    f"The vendor answers 500 to everything for {OUTAGE:.0f} s while {JOBS} jobs wait. Some fail, "
    "then the circuit breaker opens for all workers. One probe at a time asks whether the vendor "
    "is back. Nobody is dead-lettered.",
    play,
)
