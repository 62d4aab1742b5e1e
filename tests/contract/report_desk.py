"""One report that waits for a set of references: a deployment in memory around the set's door."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.contract.in_memory import Memory
from tests.contract.jobs import REPORT
from tests.explorer.memory_queue import URL
from tests.fakes import answer
from tests.pipeline import FUNDS, catalogue
from tidegate.clock import Clock
from tidegate.doors.references import Source
from tidegate.flows.finish import REFERENCES_DELAY
from tidegate.rules.job import Job
from tidegate.vendors.base import VendorAnswer, VendorCall

MODEL = "risk-report"
MISSING, UNAVAILABLE = "reference_set_missing", "references_unavailable"
ROUNDS = 3

Mend = Callable[[], None]
"""Ends a trouble."""


@dataclass
class Desk:
    """A deployment, its one job, and a vendor during whose call something may happen."""

    sources: Callable[[Clock], dict[str, Source]]
    report: dict[str, Any] = field(default_factory=lambda: dict(REPORT))
    meanwhile: Callable[[], None] = lambda: None
    """Happens during a call."""
    calls: int = 0

    def __post_init__(self) -> None:
        self.memory = Memory(catalogue(), self, self.sources)
        self.memory.begin()
        self.price = 0

    def call(self, _call: VendorCall) -> VendorAnswer:
        """Answer with the report."""
        self.calls += 1
        self.meanwhile()
        return answer(json.dumps(self.report))

    def post(self, **fields: Any) -> None:
        """Ask for a report."""
        body = {"model": MODEL, "input": {"text": "Account 7 paid twice."}, **fields}
        self.memory.post(body)
        self.price = self.memory.ledger.balance("acme").reserved

    @property
    def job(self) -> Job:
        (job,) = self.memory.jobs().values()
        return job

    def deliver(self) -> float:
        """Let the worker have the job's message; return how many seconds later it comes again."""
        assert self.memory.deliver(MODEL)
        (again,) = self.memory.sqs.queues[URL + MODEL].values()
        return (again.visible_ms - self.memory.hub.ms) / 1000

    def told(self) -> tuple[str, str | None]:
        """Return what its partner is told: the status, and the code of the error."""
        told = self.memory.ask("GET", f"/v1/jobs/{self.job.id}")[1]
        return told["status"], told["error"] and told["error"]["code"]

    def balance(self) -> tuple[int, int]:
        balance = self.memory.ledger.balance("acme")
        return balance.available, balance.reserved

    def assert_waits(self, rounds: int = ROUNDS) -> None:
        """Deliver it some times; nothing ends, and nothing is paid or lost."""
        for _ in range(rounds):
            assert REFERENCES_DELAY - 1 <= self.deliver() <= 2 * REFERENCES_DELAY
            assert not self.job.done
            assert self.balance() == (FUNDS - self.price, self.price)
        assert self.memory.bodies("quarantine") == []

    def assert_completed(self) -> None:
        self.memory.work(MODEL)
        assert (self.told(), self.calls) == (("completed", None), 1)
        assert self.memory.api.doors.jobs.output(self.job.id) == {"data": REPORT}
        assert self.balance() == (FUNDS - self.job.charged, 0)
        assert self.job.charged > 0
        assert self.memory.bodies("quarantine") == []
