"""A model that makes something up."""

from __future__ import annotations

import json

from cli.demo import asks
from cli.demo.books import await_that
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

MODEL = "risk-report"
INVENTED = "SEVERE"
ANSWER = {
    "account_id": 4711,
    "confidence_score": 0.97,
    "anomaly_detected": True,
    "risk_level": INVENTED,
}


def play(stage: Stage) -> Facts:
    """Let the vendor answer outside the contract, look where the answer ends up."""
    before, queue = stage.vendor.calls(), stage.info.quarantine_queue
    stage.vendor.reply(MODEL, json.dumps(ANSWER))
    stage.progress("a job whose answer is wrong", 0, 2)
    reply = stage.partner.post(asks.extract(MODEL, "Account 4711 paid twice within a minute."))
    job = stage.partner.finished(reply.job_id)
    result = stage.partner.get(f"/v1/jobs/{reply.job_id}/result")
    await_that(lambda: any(reply.job_id in b for b in stage.books.bodies(queue)),
               "its message in the quarantine queue")  # fmt: skip
    stage.progress("an ordinary job after it", 1, 2)
    after = stage.partner.post(asks.extract(MODEL, "Account 4712 paid its rent."))
    ordinary = stage.partner.finished(after.job_id)
    seen = json.dumps(job) + result.text
    error = job["error"] or {}
    return Facts(
        (
            Check("the job ends", job["status"], "quarantined"),
            Check("GET …/result answers", result.status_code, 409),
            Check("the invented value is visible to the partner", INVENTED in seen, False),
            Check("the next job for this model ends", ordinary["status"], "completed"),
            Check("vendor calls, one for each job", len(stage.vendor.calls_after(before)), 2),
        ),
        (
            f"the contract allows risk_level LOW, MEDIUM, HIGH; the model said {INVENTED}",
            f"what the partner reads: {error.get('code')}: {error.get('message')}",
            "the raw answer is kept for audit, its job's id lies in the quarantine queue",
        ),
    )


ACT = Act(
    "A hallucination",
    "A model answers with valid JSON that breaks the model's contract. The answer must be "
    "quarantined, not delivered, not cached, not retried.",
    play,
)
