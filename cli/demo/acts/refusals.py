"""What Tidegate does not take."""

from __future__ import annotations

from cli.demo import asks
from cli.demo.facts import Check, Facts
from cli.demo.partner import new_key
from cli.demo.stage import Act, Stage

MODEL = "chat-mini"


def play(stage: Stage) -> Facts:
    """Let one job complete; then only send what must be refused."""
    key, ask = new_key(), asks.chat(MODEL, "Which tide carries this boat?")
    reply = stage.partner.post(ask, key)
    stage.partner.finished(reply.job_id)
    before, jobs = stage.vendor.calls(), len(stage.books.jobs())
    stage.progress("requests that must be refused", 0, 0)
    altered = stage.partner.post(asks.chat(MODEL, "Which tide sinks this boat?"), key)
    missing = stage.partner.send(ask.body, {})
    smuggled = stage.partner.send(ask.body | {"api_base": "http://x"}, {"Idempotency-Key": key})
    stranger = stage.partners[1].get(f"/v1/jobs/{reply.job_id}")
    return Facts(
        (
            Check("the key again, the body altered", altered.said, "422 idempotency_key_reused"),
            Check("no Idempotency-Key", missing.said, "400 idempotency_key_missing"),
            Check("an unknown field, api_base", smuggled.said, "422 validation_failed"),
            Check("another partner's job", stranger.status_code, 404),
            Check("jobs stored for these", len(stage.books.jobs()) - jobs, 0),
            Check("vendor calls for these", len(stage.vendor.calls_after(before)), 0),
        )
    )


ACT = Act(
    "What is refused",
    "A key that comes back with an altered body, a missing key, a field that would redirect the "
    "call, another partner's job: each is told what is wrong, and nothing is stored or called.",
    play,
)
