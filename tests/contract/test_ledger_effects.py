"""The ledger under any sequence of effects, each done one to three times, against a small model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import boto3
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.contract.virtual import empty_moto
from tests.fakes import FakeClock, FakeIds
from tests.pipeline import REGION
from tidegate.doors.actions import Action
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.ledger import Balance, Ledger
from tidegate.rules.job import Job, Status

NOW = 1_900_000_000.0
TIMES = st.integers(1, 3)
COST = st.integers(0, 40)


def job(number: int, partner: str, reserved: int) -> Job:
    return Job(
        id=f"job_{number}", partner=partner, model="m", task="chat", job_key="k", fingerprint="f",
        idempotency_hash="h", status=Status.QUEUED, created_at=NOW, enqueued_at=NOW,
        deadline_at=NOW + 60, reserved=reserved,
    )  # fmt: skip


class Effects(RuleBasedStateMachine):
    """One partner's ledger, and what it should come to."""

    table: Table
    partner = "acme"

    def __init__(self) -> None:
        super().__init__()
        empty_moto()
        self.ledger = Ledger(self.table)
        self.available = self.reserved = self.captured = self.entries = 0
        self.jobs: list[Job] = []
        self.open: set[str] = set()
        """Names of reservations that are not settled."""
        self.settled: set[str] = set()
        self.done: list[Sequence[Action]] = []

    def _write(self, actions: Sequence[Action], times: int) -> bool:
        """Return whether it had an effect, which only the first time may have."""
        effective = []
        for _ in range(times if actions else 0):
            try:
                self.table.write(actions)
            except ConditionFailed:
                effective.append(False)
            else:
                effective.append(True)
        assert not any(effective[1:])
        if effective[:1] == [True]:
            self.done.append(actions)
            self.entries += 1
            return True
        return False

    @rule(number=st.integers(0, 5), times=TIMES)
    def credit(self, number: int, times: int) -> None:
        given = [
            self.ledger.credit(self.partner, f"gift-{number}", 10 * (number + 1), NOW)
            for _ in range(times)
        ]
        assert not any(given[1:])
        if given[0]:
            self.available += 10 * (number + 1)
            self.entries += 1

    @rule(cost=COST, times=TIMES)
    def reserve(self, cost: int, times: int) -> None:
        new = job(len(self.jobs), self.partner, cost)
        self.jobs.append(new)
        self._reserve(new, times)

    @precondition(lambda self: self._settled())
    @rule(data=st.data(), times=TIMES)
    def reopen(self, data: st.DataObject, times: int) -> None:
        old = data.draw(st.sampled_from(self._settled()))
        new = replace(old, replay_count=old.replay_count + 1)
        if self._reserve(new, times):
            self.jobs[self.jobs.index(old)] = new

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), share=st.integers(0, 2), times=TIMES)
    def settle(self, data: st.DataObject, share: int, times: int) -> None:
        """Release, capture a part or all; what is settled already stays as it is."""
        ended = data.draw(st.sampled_from(self.jobs))
        if ended.effect not in self.open | self.settled:
            return  # it was never accepted: nothing ends it
        taken = ended.reserved * share // 2
        if self._write(self.ledger.settle(ended, taken, NOW), times):
            self.open.remove(ended.effect)
            self.settled.add(ended.effect)
            self.available += ended.reserved - taken
            self.reserved -= ended.reserved
            self.captured += taken

    @rule(price=COST, times=TIMES)
    def hit(self, price: int, times: int) -> None:
        finished = replace(job(len(self.jobs), self.partner, 0), charged=price)
        self.jobs.append(finished)
        if self._write(self.ledger.charge(finished, NOW), times):
            assert price <= self.available
            self.available -= price
            self.captured += price
        else:
            assert price == 0 or price > self.available

    @precondition(lambda self: self.done)
    @rule(data=st.data())
    def an_old_write_arrives_again(self, data: st.DataObject) -> None:
        """However late: the SDK's retry, a worker that hung, an operator's second try."""
        with suppress(ConditionFailed):
            self.table.write(data.draw(st.sampled_from(self.done)))
            pytest.fail("an effect was written twice")

    @invariant()
    def sums_are_the_balance(self) -> None:
        entries = list(self.ledger.entries(self.partner))
        sums = Balance(
            sum(entry.available for entry in entries),
            sum(entry.reserved for entry in entries),
            sum(entry.captured for entry in entries),
            len(entries),
        )
        assert self.ledger.balance(self.partner) == sums
        assert sums == Balance(self.available, self.reserved, self.captured, self.entries)
        assert min(sums.available, sums.reserved, sums.captured) >= 0
        assert len({entry.effect for entry in entries}) == len(entries)

    def _reserve(self, new: Job, times: int) -> bool:
        if self._write(self.ledger.reserve(new, NOW), times):
            assert new.reserved <= self.available, "more than there was"
            self.available -= new.reserved
            self.reserved += new.reserved
            self.open.add(new.effect)
            return True
        assert new.reserved == 0 or new.reserved > self.available
        return False

    def _settled(self) -> list[Job]:
        return [each for each in self.jobs if each.effect in self.settled]


def test_any_effects_in_any_order_any_number_of_times(aws: None) -> None:
    client = boto3.client("dynamodb", region_name=REGION)
    Effects.table = Table(client, "ledger", FakeClock(), FakeIds())
    run_state_machine_as_test(Effects, settings=settings(max_examples=15, stateful_step_count=20))
