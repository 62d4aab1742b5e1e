"""Proving the money: the ledger explains the balance, and the jobs explain the ledger.

Every check is plain arithmetic over what was read; each difference is one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from tidegate.rules.job import Job

_EFFECT = re.compile(r"(?P<job>job_\w+)#(?P<generation>\d+)#(?P<name>reserve|settle)")
_CREDIT = re.compile(r"credit#.+")


class Amounts(Protocol):
    """Three amounts in micro-credits: of a balance, or what an entry adds to it."""

    @property
    def available(self) -> int:
        """Return what can be spent."""
        ...

    @property
    def reserved(self) -> int:
        """Return what is set aside for running jobs."""
        ...

    @property
    def captured(self) -> int:
        """Return what was paid."""
        ...


class BalanceRead(Amounts, Protocol):
    """A balance as it was read."""

    @property
    def entries(self) -> int:
        """Return how many entries make it up."""
        ...


class EntryRead(Amounts, Protocol):
    """An entry as it was read."""

    @property
    def effect(self) -> str:
        """Return its name."""
        ...

    @property
    def kind(self) -> str:
        """Return reserve, capture, release or credit."""
        ...

    @property
    def job_id(self) -> str | None:
        """Return whose it is."""
        ...


@dataclass(frozen=True, slots=True)
class Sums:
    """What entries come to."""

    available: int = 0
    reserved: int = 0
    captured: int = 0
    entries: int = 0


@dataclass(slots=True)
class _Generation:
    """What the ledger has of one life of a job, from its acceptance or re-opening to its end."""

    reserve: EntryRead | None = None
    settle: EntryRead | None = None


def sums(entries: Iterable[EntryRead]) -> Sums:
    """Return what entries come to."""
    available = reserved = captured = count = 0
    for entry in entries:
        available += entry.available
        reserved += entry.reserved
        captured += entry.captured
        count += 1
    return Sums(available, reserved, captured, count)


def balance_differences(balance: BalanceRead, entries: Iterable[EntryRead]) -> Iterator[str]:
    """Yield where a balance is not what its entries come to, or is below zero."""
    added = sums(entries)
    for name in ("available", "reserved", "captured", "entries"):
        has, explained = getattr(balance, name), getattr(added, name)
        if has != explained:
            yield f"balance: {name} is {has}, the entries come to {explained}"
        if has < 0:
            yield f"balance: {name} is {has}, below zero"


def entry_differences(entries: Iterable[EntryRead]) -> Iterator[str]:
    """Yield entries that are no effect of ours, or whose amounts are not those of their kind."""
    names: set[str] = set()
    for entry in entries:
        if entry.effect in names:
            yield f"{entry.effect}: written twice"
        names.add(entry.effect)
        problem = _problem(entry)
        if problem:
            yield f"{entry.effect}: {problem}"


def job_differences(job_id: str, job: Job | None, entries: Iterable[EntryRead]) -> Iterator[str]:
    """Yield where a job and its entries contradict each other; None is a job that is gone.

    At most one reservation and one settlement for each time it was opened, open only while it
    runs; captured at most once, what the job says it was charged, and never more than reserved.
    """
    lives = _generations(entries)
    captures = 0
    for number, life in sorted(lives.items()):
        for what in _life_differences(number, life, job):
            yield f"{job_id}: {what}"
        captures += life.settle is not None and life.settle.captured > 0
    if captures > 1:
        yield f"{job_id}: captured {captures} times"
    if job is not None:
        for what in _current_differences(job, lives.get(job.replay_count, _Generation())):
            yield f"{job_id}: {what}"


def by_job(entries: Iterable[EntryRead]) -> dict[str, list[EntryRead]]:
    """Return entries by the job their effect names; credits are no job's."""
    found: dict[str, list[EntryRead]] = {}
    for entry in entries:
        match = _EFFECT.fullmatch(entry.effect)
        if match:
            found.setdefault(match["job"], []).append(entry)
    return found


def differences(
    balance: BalanceRead, entries: Iterable[EntryRead], jobs: Mapping[str, Job]
) -> list[str]:
    """Return all differences of one partner: its balance, its entries, and all its jobs by id."""
    read = list(entries)
    found = [*balance_differences(balance, read), *entry_differences(read)]
    of_jobs = by_job(read)
    for job_id in sorted(of_jobs.keys() | jobs.keys()):
        found += job_differences(job_id, jobs.get(job_id), of_jobs.get(job_id, []))
    return found


def _problem(entry: EntryRead) -> str | None:
    a, r, c = entry.available, entry.reserved, entry.captured
    amounts = f"({a:+}, {r:+}, {c:+})"
    if _CREDIT.fullmatch(entry.effect):
        good = entry.kind == "credit" and entry.job_id is None and a > 0 and r == c == 0
        return None if good else f"no credit: {entry.kind} {amounts}"
    match = _EFFECT.fullmatch(entry.effect)
    if match is None:
        return "no effect of ours"
    if entry.job_id != match["job"]:
        return f"says it is of {entry.job_id}"
    if match["name"] == "reserve":
        good = entry.kind == "reserve" and r > 0 and a == -r and c == 0
    elif entry.kind == "release":
        good = a > 0 and r == -a and c == 0
    else:
        # Of a reservation all is given back or taken; without one (a hit's price) it is taken.
        good = entry.kind == "capture" and c > 0 and a + r + c == 0 and (r == 0 or a >= 0 > r)
    return None if good else f"no {match['name']}: {entry.kind} {amounts}"


def _generations(entries: Iterable[EntryRead]) -> dict[int, _Generation]:
    lives: dict[int, _Generation] = {}
    for entry in entries:
        match = _EFFECT.fullmatch(entry.effect)
        if match:
            life = lives.setdefault(int(match["generation"]), _Generation())
            setattr(life, match["name"], entry)
    return lives


def _life_differences(number: int, life: _Generation, job: Job | None) -> Iterator[str]:
    if job is not None and number > job.replay_count:
        yield f"effects of re-opening {number}, but it was re-opened {job.replay_count} times"
    current = job is not None and number == job.replay_count
    if life.settle is None:
        if life.reserve is not None and (not current or (job is not None and job.done)):
            yield f"opening {number} is over, its reservation of {life.reserve.reserved} is not"
        return
    if job is not None and current and not job.done:
        yield f"settled, but it is {job.status}"
    if not current and job is not None and life.settle.captured:
        yield f"captured {life.settle.captured}, and re-opened after that"
    reserved = life.reserve.reserved if life.reserve else 0
    if life.settle.reserved != -reserved:
        yield f"reserved {reserved}, settled {-life.settle.reserved}"
    if life.reserve and life.settle.captured > reserved:
        yield f"captured {life.settle.captured} of {reserved} reserved"


def _current_differences(job: Job, life: _Generation) -> Iterator[str]:
    captured = life.settle.captured if life.settle else 0
    reserved = life.reserve.reserved if life.reserve else 0
    if job.charged != captured:
        yield f"charged {job.charged}, captured {captured}"
    if job.reserved != reserved:
        yield f"it reserves {job.reserved}, the ledger {reserved}"
