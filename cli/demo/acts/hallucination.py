"""A model that makes something up, and an operator who looks at what it said."""

from __future__ import annotations

import json
import re
from typing import Any

from cli.demo import asks
from cli.demo.asks import Ask
from cli.demo.books import await_that
from cli.demo.facts import Check, Facts
from cli.demo.partner import How
from cli.demo.stage import Act, Stage
from tidegate.gate.reason import Code

MODEL = "risk-report"
CODE: Code = "reference_unknown"
QUARANTINED = f"quarantined, {CODE}"
INVENTED, KNOWN = 9999, 1001
NEW = 1021
"""Opened this morning."""


def play(stage: Stage) -> Facts:
    """Let the vendor name accounts that our data does not have; look where its answers end up."""
    calls, had = stage.vendor.calls(), _usage(stage)
    twice = asks.extract(MODEL, "Mr Lee's account paid twice within a minute.")
    stage.progress("a report on an account that does not exist", 0, 4)
    _, wrong = _asked(stage, twice, INVENTED)
    result = stage.partner.get(f"/v1/jobs/{wrong['id']}/result")
    has = _usage(stage)
    stage.progress("the same question under two more keys", 1, 4)
    second, right = _asked(stage, twice, KNOWN)
    third = stage.partner.post(twice).how
    stage.progress("a report on an account of this morning", 2, 4)
    deposit = asks.extract(MODEL, "Ms Adeyemi's account had its first deposit.")
    _, early = _asked(stage, deposit, NEW)
    for job in (wrong, early):
        _await_message(stage, job["id"])
    stage.progress("tidegate quarantine list, release", 3, 4)
    listed, before = _listed(stage), _usage(stage)
    released = stage.operator.release(early["id"], "its account was opened this morning")
    given = stage.partner.finished(early["id"])
    taken = _usage(stage)["captured_micro_credits"] - before["captured_micro_credits"]
    others, _ = _asked(stage, deposit, KNOWN)
    return Facts(
        (
            Check(f"a report on account {INVENTED} ends", _ended(wrong), QUARANTINED),
            Check("GET …/result answers", result.status_code, 409),
            Check("the partner sees that account", _says(INVENTED, wrong, result.text), False),
            Check("the partner's balance is as it was before", has == had, True),
            Check("the same question under another key: nothing cached", second, "created"),
            Check(f"its report on account {KNOWN} ends", right["status"], "completed"),
            Check("the same question once more", third, "cached"),
            Check(f"a report on account {NEW}, of this morning, ends", _ended(early), QUARANTINED),
            Check("the operator's list is these two", listed == [early["id"], wrong["id"]], True),
            Check("the later one, by the operator's command", released, "released"),
            Check("its partner is given the report on account", _account(given), NEW),
            Check("and told that it was released", given["released"], True),
            Check("micro-credits: its price, taken since", taken, _price(given)),
            Check("nobody else is: its question under another key", others, "created"),
            Check("the other one still lies there", _listed(stage) == [wrong["id"]], True),
            Check("vendor calls, one for each answer", len(stage.vendor.calls_after(calls)), 4),
        ),
        (
            "every answer here is JSON that the contract's schema allows",
            f"account {NEW} is new: the operator knows it, the set of accounts does not yet",
            f"what the partner reads: {wrong['error']['code']}: {wrong['error']['message']}",
            f"the operator's record: {wrong['id']}, with the raw answer",
        ),
    )


def _asked(stage: Stage, ask: Ask, account: int) -> tuple[How, dict[str, Any]]:
    """Let the vendor answer with a report on an account; return how it was taken, and the job."""
    answer = {"account_id": account, "confidence_score": 0.97, "anomaly_detected": True}
    stage.vendor.reply(MODEL, json.dumps({**answer, "risk_level": "HIGH"}))
    reply = stage.partner.post(ask)
    return reply.how, stage.partner.finished(reply.job_id)


def _await_message(stage: Stage, job_id: str) -> None:
    queue = stage.info.quarantine_queue
    await_that(
        lambda: any(job_id in body for body in stage.books.bodies(queue)),
        f"the message of {job_id} in the quarantine queue",
    )


def _listed(stage: Stage) -> list[str]:
    return [one.job_id for one in stage.operator.quarantined(MODEL, CODE)]


def _usage(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = stage.partner.get("/v1/usage").raise_for_status().json()
    return found


def _ended(job: dict[str, Any]) -> str:
    return f"{job['status']}, {(job['error'] or {}).get('code')}"


def _says(account: int, job: dict[str, Any], text: str) -> bool:
    return re.search(rf"\b{account}\b", json.dumps(job) + text) is not None


def _account(job: dict[str, Any]) -> object:
    return ((job["output"] or {}).get("data") or {}).get("account_id")


def _price(job: dict[str, Any]) -> int:
    return int(job["price"]["charged_micro_credits"])


ACT = Act(
    "A hallucination",
    "A model answers with a report that its schema allows, on an account that does not exist. It "
    "must be quarantined: not delivered, not cached, not charged, not retried. Where the operator "
    "knows better, one command releases an answer, to its own partner and nobody else.",
    play,
)
