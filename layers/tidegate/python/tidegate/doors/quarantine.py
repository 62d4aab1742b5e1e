"""Answers that failed the gate, kept for audit: a record beside the job, a pointer to list it by.

job#<id>                    quarantine#<attempt>        facts; the raw answer as a payload
quarantine#<model>#<day>    <millis>#<id>#<attempt>     a few words of it: nobody scans

Both are written in the transaction that ends the job, and change in the one that decides on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from tidegate.doors.actions import Action, Item, put, update
from tidegate.doors.dynamo import Table
from tidegate.doors.items import job_pk, millis
from tidegate.doors.payloads import Payloads
from tidegate.doors.staged import Staged, staged_of
from tidegate.rules.quarantine import KEPT, Decision, Record

MOST_KEPT = 1_000_000
"""Characters of a raw answer that are kept; contracts of ours are hundreds of times smaller."""

_PAYLOAD = ("body", "packed", "s3_key")
_FOLDER = "quarantine"


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list shows of a record."""

    job_id: str
    attempt: int
    partner: str
    model: str
    at: float
    """Seconds since the epoch."""
    codes: tuple[str, ...]
    version: str
    state: str


class Quarantine:
    """Records of answers that failed."""

    def __init__(self, table: Table, payloads: Payloads) -> None:
        self._table = table
        self._payloads = payloads

    def kept(self, record: Record, staged: Staged) -> list[Action]:
        """Return what keeps a record and its raw answer, cut to `MOST_KEPT` characters."""
        text = staged.text
        cut = text is not None and len(text) > MOST_KEPT
        raw = asdict(replace(staged, text=text[:MOST_KEPT] if text is not None else None))
        payload = self._payloads.put(_payload_key(record), raw, folder=_FOLDER)
        pk, sk = _record_key(record.job_id, record.attempt)
        expires = {"expires_at": int(record.at) + KEPT, "state": "open"}
        facts = json.dumps(asdict(replace(record, cut=cut)))
        listed = {
            "job_id": record.job_id,
            "attempt": record.attempt,
            "partner": record.partner,
            "model": record.model,
            "at": millis(record.at),
            "codes": json.dumps(sorted({reason.code for reason in record.reasons})),
            "version": record.made_by.get("version", ""),
        }
        return [
            put({"pk": pk, "sk": sk, "facts": facts, **payload, **expires}),
            put({**_pointer_key(record), **listed, **expires}),
        ]

    def record(self, job_id: str, attempt: int | None = None) -> Record | None:
        """Return a job's record of an attempt, or of its latest that failed; None if there is none.

        The attempt it was re-opened for, if an operator accepted its answer, is no other.
        """
        first, last = "quarantine#", "quarantine#~"
        if attempt is not None:
            first = last = _record_key(job_id, attempt)[1]
        found = list(self._table.query(job_pk(job_id), first, last))
        return _record(found[-1]) if found else None

    def raw(self, record: Record) -> Staged | None:
        """Return the raw answer of a record, as far as it was kept; None if it is gone."""
        item = self._table.get(*_record_key(record.job_id, record.attempt))
        if item is None or not any(name in item for name in _PAYLOAD):
            return None
        return staged_of(self._payloads.get(item))

    def listed(self, model: str, day: str) -> Iterator[Listed]:
        """Yield what failed at a model on a day (`2026-11-30`, UTC), the oldest first."""
        for item in self._table.query(f"quarantine#{model}#{day}", " ", "~"):
            yield Listed(
                item["job_id"], item["attempt"], item["partner"], item["model"],
                item["at"] / 1000, tuple(json.loads(item["codes"])), item["version"],
                item["state"],
            )  # fmt: skip

    def decided(self, record: Record, decision: Decision) -> list[Action]:
        """Return what writes a decision down, unless there is one already.

        Discarding removes the raw answer besides. The first of these fails where there is one.
        """
        changes: dict[str, Any] = {
            "state": decision.state,
            "decided_by": decision.by,
            "why": decision.why,
            "decided_at": millis(decision.at),
        }
        condition, values = "#state = :open", {":open": "open"}
        gone = dict.fromkeys(_PAYLOAD) if decision.state == "discarded" else {}
        pk, sk = _record_key(record.job_id, record.attempt)
        pointer = _pointer_key(record)
        state = {"state": decision.state}
        return [
            update(pk, sk, {**changes, **gone}, condition, values),
            update(pointer["pk"], pointer["sk"], state, condition, values),
        ]

    def discard(self, record: Record, decision: Decision) -> None:
        """Write down that an answer is not worth keeping. `remove` goes with it.

        Raises:
            ConditionFailed: it was decided on before.
        """
        self._table.write(self.decided(record, decision))

    def remove(self, record: Record) -> None:
        """Remove from S3 what is there of a raw answer that was discarded; twice is once."""
        # By name: once the decision is written, nothing points there any more.
        self._payloads.remove(f"{_FOLDER}/{_payload_key(record)}.json")


def _record(item: Item) -> Record | None:
    if "facts" not in item:
        return None
    record = Record.of(json.loads(item["facts"]))
    if item["state"] == "open":
        return record
    at = item["decided_at"] / 1000
    return replace(record, decision=Decision(item["state"], item["decided_by"], item["why"], at))


def _record_key(job_id: str, attempt: int) -> tuple[str, str]:
    return job_pk(job_id), f"quarantine#{attempt:06d}"


def _payload_key(record: Record) -> str:
    return f"{record.job_id}/{record.attempt}"


def _pointer_key(record: Record) -> dict[str, str]:
    day = f"{datetime.fromtimestamp(record.at, UTC):%Y-%m-%d}"
    at = f"{millis(record.at):015d}"
    sk = f"{at}#{record.job_id}#{record.attempt:06d}"
    return {"pk": f"quarantine#{record.model}#{day}", "sk": sk}
