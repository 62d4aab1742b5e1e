"""A model paused by hand, a partner's batch that waits, and another partner's one job behind it."""

from __future__ import annotations

import time

from cli.demo import asks
from cli.demo.crowd import side_by_side
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

MODEL = "code-command"
BATCH = 24
CLIENTS = 12
PAUSE = 4
"""Seconds; long enough to post everything, and if not, nothing here depends on it."""

FEW = 4
"""Calls that may begin before the single job's: those of two workers, twice."""

SINGLE = "Rename the lighthouse."


def play(stage: Stage) -> Facts:
    """Pause the model, let both partners post, look in what order the vendor was called."""
    before = stage.vendor.calls()
    stage.progress("tidegate models pause", 0, 0)
    paused = stage.operator.pause(MODEL, PAUSE, "a demonstration")
    resumes = time.monotonic() + paused["until"] - time.time()
    crowd, single = stage.partners[0], stage.partners[1]
    seen = stage.counter("posts answered", BATCH)
    posted = side_by_side(lambda n: crowd.post(_ask(n)), range(BATCH), CLIENTS, seen)
    since = time.monotonic()
    alone = single.post(asks.code(MODEL, SINGLE, "x = 1"))
    stage.progress("waiting until the model is resumed", 0, 0)
    finished = single.finished(alone.job_id)
    jobs = stage.finished(crowd, [reply.job_id for reply in posted])
    calls = stage.vendor.calls_after(before)
    own = next(call for call in calls if SINGLE in call.asked)
    ahead = sum(since < call.started_at < own.started_at for call in calls)
    hasty = sum(call.started_at < resumes for call in calls)
    completed = sum(job["status"] == "completed" for job in jobs.values())
    return Facts(
        (
            Check("while it is paused, `models show` says so", paused["paused"], True),
            Check("calls while it is paused", hasty, 0),
            Check("the single job ends", finished["status"], "completed"),
            Check(f"calls of the batch before it: {FEW} at most", ahead <= FEW, True),
            Check("jobs of the batch completed", completed, BATCH),
        ),
        (f"{BATCH} jobs stood before the single one; {ahead} of their calls came before its own",),
    )


def _ask(number: int) -> asks.Ask:
    return asks.code(MODEL, f"Rename harbour no. {number}.", "x = 1")


ACT = Act(
    "A pause by hand, and whose turn it is",
    f"The operator pauses a model for {PAUSE} s. Meanwhile one partner posts {BATCH} jobs, and "
    "then another partner posts one. When the model is resumed partners take turns: the one job "
    "does not wait for the batch.",
    play,
)
