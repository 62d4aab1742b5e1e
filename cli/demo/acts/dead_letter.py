"""A vendor that is broken, and well again."""

from __future__ import annotations

from cli.demo import asks
from cli.demo.books import await_that
from cli.demo.facts import Check, Facts
from cli.demo.partner import new_key
from cli.demo.stage import Act, Stage

MODEL = "code-command"


def play(stage: Stage) -> Facts:
    """Use a job's attempts up, then send it again once the vendor answers."""
    before = stage.vendor.calls()
    ask = asks.code(MODEL, "Add a guard for zero.", "def rate(a, b):\n    return a / b")
    key = new_key()
    attempts = stage.models[MODEL].retry.attempts
    stage.vendor.fail(MODEL, 500, None)
    try:
        stage.progress("waiting until its attempts are used up", 0, 3)
        reply = stage.partner.post(ask, key)
        job = stage.partner.finished(reply.job_id)
        stage.progress("waiting until its message is in the DLQ", 1, 3)
        dlq = stage.info.dlqs[MODEL]
        await_that(lambda: any(reply.job_id in b for b in stage.books.bodies(dlq)),
                   f"the message of {reply.job_id} in the DLQ")  # fmt: skip
        calls = len(stage.vendor.calls_after(before))
    finally:
        stage.vendor.behave()
    stage.progress("the same request again", 2, 3)
    again = stage.partner.finished(stage.partner.post(ask, key).job_id)
    error = job["error"] or {}
    return Facts(
        (
            Check("the job ends", job["status"], "dead_lettered"),
            Check("vendor calls, one for each allowed attempt", calls, attempts),
            Check("its reason: vendor status", error.get("vendor_status"), 500),
            Check("trying again may cure it", error.get("retryable"), True),
            Check("messages of it in the DLQ", _copies(stage, dlq, reply.job_id), 1),
            Check("same key and body, vendor well again", again["status"], "completed"),
        ),
        (f"what the partner reads: {error.get('code')}: {error.get('message')}",),
    )


def _copies(stage: Stage, queue: str, job_id: str) -> int:
    return sum(job_id in body for body in stage.books.bodies(queue))


ACT = Act(
    "A job that cannot be done",
    "The vendor answers 500 to everything. The job is tried as often as its model allows, then it "
    "is dead-lettered with the reason, and its message moves to the dead-letter queue (DLQ). "
    "Later the partner sends the same request again.",
    play,
)
