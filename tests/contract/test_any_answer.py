"""Whatever a vendor answers, a worker does not break, and nothing becomes public but a report.

Around the explorer's doors in memory (in_memory.py), through the shipped adapters, api and worker.
What may become public is decided here by another reading of the body, with no code of the gate.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import httpx
import pytest
from hypothesis import example, given, settings

from tests.contract.any_bodies import BODIES, RIGHT
from tests.contract.in_memory import Memory, there
from tests.pipeline import FUNDS
from tests.properties import ANY_MACHINE
from tests.unit.answer_cases import REPORT, SETS, models
from tidegate.rules.job import Job, Status
from tidegate.vendors.base import VendorAnswer, VendorCall
from tidegate.vendors.registry import build

PRICE = 1000
CALLS = {Status.COMPLETED: 1, Status.QUARANTINED: 1, Status.FAILED: 1, Status.DEAD_LETTERED: 2}
"""How often the vendor is asked, by how a job ends."""
KEPT = {
    Status.COMPLETED: {"output", "answer", "result"},
    Status.QUARANTINED: {"quarantine#000001"},
    Status.FAILED: set(),
    Status.DEAD_LETTERED: set(),
}
"""What is kept besides what was asked."""


class Answering:
    """A vendor that answers one body, and a deployment that asks it."""

    def __init__(self) -> None:
        self.body, self.calls = b"", 0
        self.memory = Memory(models(), self, there(SETS))

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return what the adapter of an entry makes of the body."""
        self.calls += 1
        transport = httpx.MockTransport(lambda _: httpx.Response(200, content=self.body))
        adapter = build(call.entry, "http://v.test", lambda: "k", self.memory.clock, transport)
        return adapter.call(call)


@pytest.fixture(scope="module")
def vendor() -> Answering:
    return Answering()


class NotOne(ValueError):
    """There is not one reading of it."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise NotOne
    return dict(pairs)


def no_number(_name: str) -> Any:
    raise NotOne


def reading(text: str) -> dict[str, Any] | None:
    """Return the report that a text is, or None."""
    try:
        value = json.loads(
            text, object_pairs_hook=once, parse_constant=no_number, parse_int=Decimal,
            parse_float=Decimal,
        )  # fmt: skip
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != REPORT.keys():
        return None
    account, score = value["account_id"], value["confidence_score"]
    right = (
        isinstance(account, Decimal)
        and account in {Decimal(1), Decimal(7), Decimal(4711)}
        and isinstance(score, Decimal)
        and 0 <= score <= 1
        and isinstance(value["anomaly_detected"], bool)
        and value["risk_level"] in ("LOW", "MEDIUM", "HIGH")
    )
    numbers = {"account_id": int(account), "confidence_score": float(score)} if right else {}
    return {**value, **numbers} if right else None


def read(body: bytes) -> dict[str, Any] | None:
    """Return the report in the body of an answer of OpenAI's, or None."""
    try:
        envelope = json.loads(body.decode(), object_pairs_hook=once)
        assert envelope.get("error") is None
        choice = envelope["choices"][0]
        assert (choice["finish_reason"], choice["message"].get("refusal") or "") == ("stop", "")
        return reading(choice["message"]["content"])
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError):
        return None


@given(BODIES)
@example(("report", RIGHT))
@example(("report", RIGHT.replace(b": 7,", b": 8,")))
@settings(max_examples=400, deadline=None, suppress_health_check=ANY_MACHINE)
def test_no_body_breaks_a_worker_and_only_reports_become_public(
    vendor: Answering, asked: tuple[str, bytes]
) -> None:
    memory, vendor.calls = vendor.memory, 0
    model, vendor.body = asked
    memory.begin()
    memory.post({"model": model, "input": {"text": "7 paid twice."}})
    memory.work(model)

    (job,) = memory.jobs().values()
    assert vendor.calls == CALLS[job.status]
    kept = memory.kept(job)
    assert kept.keys() == {"status", "input"} | KEPT[job.status]
    assert not {"MessageFailures", "LostFence"} & memory.telemetry.counts.keys()
    dead = [copy["job_id"] for copy in memory.bodies(f"{model}-dlq")]
    assert dead == ([job.id] if job.status in {Status.FAILED, Status.DEAD_LETTERED} else [])
    price = PRICE if job.status is Status.COMPLETED else 0
    balance = memory.ledger.balance("acme")
    assert (balance.available, balance.reserved) == (FUNDS - price, 0)
    if job.status is Status.COMPLETED:
        public = memory.api.doors.cache.look(job.job_key, memory.clock.now()).result
        assert public is not None
        output = memory.api.doors.jobs.output(job.id)
        assert output == public.output
        assert reading(json.dumps(output["data"])) == output["data"]
    if model == "report":
        judge_again(job, vendor)


def judge_again(job: Job, vendor: Answering) -> None:
    """Hold how a job ended against the other reading of its answer."""
    right = read(vendor.body)
    if right is None:
        assert job.status is not Status.COMPLETED
    elif not re.search(rb"[0-9.]{16}", vendor.body):  # more than a double has is not for reports
        assert job.status is Status.COMPLETED
        assert vendor.memory.api.doors.jobs.output(job.id) == {"data": right}
