"""Money: one balance per partner, and an append-only ledger that explains it to the micro-credit.

pk                  sk                        what
balance#<partner>   balance                   available, reserved, captured; entries: how many
ledger#<partner>    <job>#<n>#reserve         set aside when a job was accepted (n: re-openings)
                    <job>#<n>#settle          how that ended: capture or release, never both
                    credit#<id>               what an operator gave

An entry is put under the name of its effect, if it is not there, in the transaction that changes
the balance: done twice is once. One settle entry, not one name each for capture and release
(as a two-phase transfer is resolved once: docs.tigerbeetle.com, two-phase transfers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.doors.actions import Action, Item, put, update
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.rules.job import Job


@dataclass(frozen=True, slots=True)
class Balance:
    """What a partner has, in micro-credits."""

    available: int = 0
    reserved: int = 0
    captured: int = 0
    entries: int = 0
    """Entries of the ledger that make it up."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One effect on a balance; the amounts are what it added, in micro-credits."""

    effect: str
    kind: str
    """reserve, capture, release or credit."""
    job_id: str | None
    available: int
    reserved: int
    captured: int


class Ledger:
    """The ledger's table. Actions it returns belong into the transaction of what they pay for."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def reserve(self, job: Job, now: float) -> list[Action]:
        """Return what sets aside `job.reserved`; the last action fails where funds do not reach.

        Nothing to set aside, nothing to do.
        """
        return self._effect(job, "reserve", "reserve", now, -job.reserved, job.reserved, 0)

    def settle(self, job: Job, captured: int, now: float) -> list[Action]:
        """Return what ends a job's reservation: `captured` is taken, the rest comes back."""
        kind = "capture" if captured else "release"
        back = job.reserved - captured
        return self._effect(job, "settle", kind, now, back, -job.reserved, captured)

    def charge(self, job: Job, now: float) -> list[Action]:
        """Return what takes `job.charged` at once, with no reservation: the price of a hit."""
        return self._effect(job, "settle", "capture", now, -job.charged, 0, job.charged)

    def credit(self, partner: str, credit_id: str, amount: int, now: float) -> bool:
        """Give a partner micro-credits; False if this credit was given before.

        Raises:
            ValueError: the same credit was given with another amount.
        """
        effect = f"credit#{credit_id}"
        try:
            self._table.write(self._entry(partner, effect, "credit", None, now, amount, 0, 0))
        except ConditionFailed as failed:
            given = (failed.found[0] or {}).get("available")
            if given != amount:
                raise ValueError(f"{effect} was given before, with {given}") from None
            return False
        return True

    def balance(self, partner: str) -> Balance:
        """Return a partner's balance; zero if nothing was ever given."""
        item = self._table.get(_balance_pk(partner), "balance") or {}
        return _balance(item)

    def entries(self, partner: str) -> Iterator[Entry]:
        """Yield a partner's entries."""
        for item in self._table.query(_ledger_pk(partner), " ", "~"):
            yield Entry(
                item["sk"], item["kind"], item.get("job_id"),
                item["available"], item["reserved"], item["captured"],
            )  # fmt: skip

    def partners(self) -> list[str]:
        """Return everybody who has a balance or an entry. Reads the whole table: for an audit."""
        return sorted({item["pk"].partition("#")[2] for item in self._table.scan()})

    def _effect(
        self, job: Job, name: str, kind: str, now: float, available: int, reserved: int, taken: int
    ) -> list[Action]:
        if not (available or reserved or taken):
            return []
        effect = f"{job.effect}#{name}"
        return self._entry(job.partner, effect, kind, job.id, now, available, reserved, taken)

    def _entry(
        self,
        partner: str,
        effect: str,
        kind: str,
        job_id: str | None,
        now: float,
        available: int,
        reserved: int,
        captured: int,
    ) -> list[Action]:
        amounts = {"available": available, "reserved": reserved, "captured": captured}
        entry: dict[str, Any] = {
            "pk": _ledger_pk(partner),
            "sk": effect,
            "partner": partner,
            "kind": kind,
            "job_id": job_id,
            "at": round(now * 1000),
            **amounts,
        }
        condition, values = "", {}
        if available < 0:
            condition, values = "#available >= :cost", {":cost": -available}
        return [
            put(entry, "attribute_not_exists(pk)", table=self._table.name),
            update(
                _balance_pk(partner), "balance", {}, condition, values,
                adds={**amounts, "entries": 1}, table=self._table.name,
            ),
        ]  # fmt: skip


def _balance(item: Item) -> Balance:
    names = ("available", "reserved", "captured", "entries")
    return Balance(**{name: item.get(name, 0) for name in names})


def _balance_pk(partner: str) -> str:
    return f"balance#{partner}"


def _ledger_pk(partner: str) -> str:
    return f"ledger#{partner}"
