"""Proving the money: what really happens verifies, and what was tampered with is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.properties import ANY_MACHINE
from tidegate.doors.ledger import Balance, Entry
from tidegate.rules.audit import differences, sums
from tidegate.rules.job import Job, Status

ENDS = [Status.COMPLETED, Status.FAILED, Status.DEAD_LETTERED, Status.CANCELLED, Status.EXPIRED]
CURABLE = {Status.FAILED, Status.DEAD_LETTERED, Status.EXPIRED}


def a_job(number: int, reserved: int, status: Status = Status.QUEUED, charged: int = 0) -> Job:
    return Job(
        id=f"job_{number}", partner="acme", model="m", task="chat", job_key="k", fingerprint="f",
        idempotency_hash="h", status=status, created_at=0, enqueued_at=0, deadline_at=60,
        reserved=reserved, charged=charged,
    )  # fmt: skip


@dataclass
class Books:
    """Money as it lies in the tables."""

    entries: list[Entry] = field(default_factory=list)
    jobs: dict[str, Job] = field(default_factory=dict)
    balance: Balance = field(default_factory=Balance)

    def add(self, effect: str, kind: str, job_id: str | None, a: int, r: int, c: int) -> None:
        if not (a or r or c):
            return
        self.entries.append(Entry(effect, kind, job_id, a, r, c))
        self.balance = Balance(
            self.balance.available + a,
            self.balance.reserved + r,
            self.balance.captured + c,
            self.balance.entries + 1,
        )

    def reserve(self, job: Job) -> None:
        self.jobs[job.id] = job
        self.add(f"{job.effect}#reserve", "reserve", job.id, -job.reserved, job.reserved, 0)

    def settle(self, job: Job, status: Status, captured: int) -> None:
        self.jobs[job.id] = replace(job, status=status, charged=captured)
        kind = "capture" if captured else "release"
        back = job.reserved - captured
        self.add(f"{job.effect}#settle", kind, job.id, back, -job.reserved, captured)

    def differences(self) -> list[str]:
        return differences(self.balance, self.entries, self.jobs)


@st.composite
def histories(draw: st.DrawFn) -> Books:
    """Books after any sequence of what Tidegate does with money."""
    books = Books()
    books.add("credit#funds", "credit", None, draw(st.integers(1, 10**12)), 0, 0)
    for number in range(draw(st.integers(0, 6))):
        if draw(st.booleans()) and draw(st.booleans()):  # a hit, at its price
            price = draw(st.integers(0, min(50, books.balance.available)))
            job = a_job(number, 0, Status.COMPLETED, price)
            books.jobs[job.id] = job
            books.add(f"{job.effect}#settle", "capture", job.id, -price, 0, price)
            continue
        job = a_job(number, draw(st.integers(0, min(10**6, books.balance.available))))
        books.reserve(job)
        while draw(st.booleans()):
            end = draw(st.sampled_from(ENDS))
            captured = draw(st.integers(0, job.reserved)) if end is Status.COMPLETED else 0
            books.settle(job, end, captured)
            if end not in CURABLE or not draw(st.booleans()):
                break
            job = replace(job, replay_count=job.replay_count + 1)
            books.reserve(job)
        if draw(st.integers(0, 9)) == 0 and books.jobs[job.id].done:
            del books.jobs[job.id]  # jobs are forgotten after a month, the ledger is not
    return books


@given(histories())
def test_what_really_happens_verifies(books: Books) -> None:
    assert books.differences() == []
    assert sums(books.entries) == sums(iter(books.entries))


def entry_amount(books: Books, draw: st.DrawFn) -> None:
    at = draw(st.integers(0, len(books.entries) - 1))
    name = draw(st.sampled_from(["available", "reserved", "captured"]))
    by = draw(st.integers(-100, 100).filter(bool))
    old = books.entries[at]
    books.entries[at] = replace(old, **{name: getattr(old, name) + by})


def entry_gone(books: Books, draw: st.DrawFn) -> None:
    del books.entries[draw(st.integers(0, len(books.entries) - 1))]


def entry_twice(books: Books, draw: st.DrawFn) -> None:
    entry = draw(st.sampled_from(books.entries))
    books.entries.append(draw(st.sampled_from([entry, replace(entry, effect="credit#again")])))


def entry_of_another_kind(books: Books, draw: st.DrawFn) -> None:
    at = draw(st.integers(0, len(books.entries) - 1))
    kinds = {"reserve", "capture", "release", "credit"} - {books.entries[at].kind}
    books.entries[at] = replace(books.entries[at], kind=draw(st.sampled_from(sorted(kinds))))


def entry_of_another_job(books: Books, draw: st.DrawFn) -> None:
    at = draw(st.integers(0, len(books.entries) - 1))
    books.entries[at] = replace(books.entries[at], job_id="job_other")


def balance_changed(books: Books, draw: st.DrawFn) -> None:
    name = draw(st.sampled_from(["available", "reserved", "captured", "entries"]))
    by = draw(st.integers(-100, 100).filter(bool))
    books.balance = replace(books.balance, **{name: getattr(books.balance, name) + by})


def priced_job(books: Books, draw: st.DrawFn) -> Job:
    priced = [job for job in books.jobs.values() if job.reserved]
    assume(priced)
    return draw(st.sampled_from(priced))


def job_charged_otherwise(books: Books, draw: st.DrawFn) -> None:
    job = priced_job(books, draw)
    by = draw(st.integers(-100, 100).filter(bool))
    books.jobs[job.id] = replace(job, charged=job.charged + by)


def job_ended_without_settling(books: Books, draw: st.DrawFn) -> None:
    job = priced_job(books, draw)
    assume(not job.done)
    books.jobs[job.id] = replace(job, status=draw(st.sampled_from(ENDS)))


def job_running_though_settled(books: Books, draw: st.DrawFn) -> None:
    job = priced_job(books, draw)
    assume(job.done)
    books.jobs[job.id] = replace(job, status=Status.RETRYING)


def job_re_opened_for_nothing(books: Books, draw: st.DrawFn) -> None:
    job = priced_job(books, draw)
    books.jobs[job.id] = replace(job, replay_count=job.replay_count + 1)


def job_gone_with_its_reservation_open(books: Books, draw: st.DrawFn) -> None:
    job = priced_job(books, draw)
    assume(not job.done)
    del books.jobs[job.id]


TAMPERINGS: list[Callable[[Books, Any], None]] = [
    entry_amount, entry_gone, entry_twice, entry_of_another_kind, entry_of_another_job,
    balance_changed, job_charged_otherwise, job_ended_without_settling,
    job_running_though_settled, job_re_opened_for_nothing, job_gone_with_its_reservation_open,
]  # fmt: skip


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda each: each.__name__)
@settings(suppress_health_check=[*ANY_MACHINE, HealthCheck.filter_too_much])
@given(data=st.data())
def test_any_single_tampering_is_found(
    tampering: Callable[[Books, Any], None], data: st.DataObject
) -> None:
    books = data.draw(histories())
    tampering(books, data.draw)
    assert books.differences() != []


def test_what_is_charged_twice_is_found_though_every_sum_is_right() -> None:
    books = Books()
    books.add("credit#funds", "credit", None, 100, 0, 0)
    job = a_job(1, 10)
    books.reserve(job)
    books.settle(job, Status.COMPLETED, 7)
    again = replace(job, replay_count=1)
    books.reserve(again)
    books.settle(again, Status.COMPLETED, 7)
    assert books.differences() == [
        "job_1: captured 7, and re-opened after that",
        "job_1: captured 2 times",
    ]


def test_more_captured_than_reserved_is_found_though_every_sum_is_right() -> None:
    books = Books()
    books.add("credit#funds", "credit", None, 100, 0, 0)
    job = a_job(1, 10)
    books.reserve(job)
    books.settle(job, Status.COMPLETED, 11)
    assert "job_1: captured 11 of 10 reserved" in books.differences()


def test_a_balance_below_zero_is_found_though_it_is_explained() -> None:
    books = Books()
    books.reserve(a_job(1, 10))
    assert books.differences() == ["balance: available is -10, below zero"]
