"""Accepting: idempotency claim, content claim, job and input in one transaction, all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tidegate.doors.dynamo import Action, ConditionFailed, Item, Table, put
from tidegate.doors.items import (
    RETENTION,
    claim_pk,
    content_sk,
    job_pk,
    millis,
    status_item,
    work_pk,
)
from tidegate.doors.payloads import Payloads
from tidegate.rules.job import Job

CLAIM_LIFE = 86_400
"""Seconds an Idempotency-Key is remembered after its job must have ended."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an Idempotency-Key points at."""

    job_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Taken:
    """Why a job was not created: its key is claimed, or the same work is running."""

    claim: Claim | None
    running: str | None


class Claims:
    """Claims of partners, written with what they point at."""

    def __init__(self, table: Table, payloads: Payloads) -> None:
        self._table = table
        self._payloads = payloads

    def create(
        self,
        job: Job,
        claim: str,
        asked: dict[str, Any],
        metadata: dict[str, str],
        *,
        now: float,
        replacing: str | None = None,
        effects: Sequence[Action] = (),
    ) -> Taken | None:
        """Store a new job with its claims; None if it is there now, else what is in its place.

        Args:
            job: the job; a finished one (an answer reused) claims no work and needs no input.
            claim: name of the idempotency claim.
            asked: input and parameters, kept beside the job.
            metadata: the partner's notes.
            now: seconds since the epoch.
            replacing: id of an ended job whose claim this one may take over.
            effects: what else must be written or nothing is: the ledger's place.
        """
        keep = int(job.deadline_at) + RETENTION
        base = {"pk": job_pk(job.id), "expires_at": keep}
        actions = [
            _claim(job, claim, now, replacing),
            put(status_item(job), "attribute_not_exists(pk)"),
        ]
        if metadata:
            notes = self._payloads.put(f"{job.id}/metadata", metadata)
            actions.append(put({**base, "sk": "metadata", **notes}))
        if not job.done:
            actions.append(_content(job, now))
            body = self._payloads.put(f"{job.id}/input", asked)
            actions.append(put({**base, "sk": "input", **body}))
        try:
            self._table.write([*actions, *effects])
        except ConditionFailed as failed:
            return _taken(failed.found)
        return None

    def join(
        self,
        job: Job,
        claim: str,
        fingerprint: str,
        token: str,
        *,
        now: float,
        replacing: str | None = None,
    ) -> Claim | None:
        """Point a claim at a job that is running; None if done, else the claim in its place.

        `token` names this request, so that it knows its own write from an earlier request's.
        """
        joined = {"fingerprint": fingerprint, "token": token}
        try:
            self._table.write([_claim(job, claim, now, replacing, joined)])
        except ConditionFailed as failed:
            found = failed.found[0] or {}
            if found.get("token") == token:
                return None
            return Claim(found["job_id"], found["fingerprint"])
        return None


def _taken(found: Sequence[Item | None]) -> Taken | None:
    claimed, stored = found[0], found[1]
    if stored:
        return None  # a job id is never given twice: this is our own write, its reply was lost
    if claimed is not None:
        return Taken(Claim(claimed["job_id"], claimed["fingerprint"]), None)
    running = next((item["job_id"] for item in found[2:] if item and "job_id" in item), None)
    return Taken(None, running)


def _content(job: Job, now: float) -> Action:
    """Return the claim on the work; past its job's deadline another job may take it over."""
    item = {
        "pk": work_pk(job.job_key),
        "sk": content_sk(job.partner),
        "job_id": job.id,
        "until": millis(job.deadline_at),
        "expires_at": int(job.deadline_at) + CLAIM_LIFE,
    }
    return put(item, "attribute_not_exists(pk) OR #until < :now", {":now": millis(now)})


def _claim(
    job: Job,
    claim: str,
    now: float,
    replacing: str | None,
    joined: Mapping[str, str] = MappingProxyType({}),
) -> Action:
    # TTL deletion is lazy (DynamoDB: within days), so life is checked in the condition.
    until = job.deadline_at + CLAIM_LIFE
    condition = "attribute_not_exists(pk) OR #until < :now"
    values: dict[str, Any] = {":now": millis(now)}
    if replacing is not None:
        condition += " OR #job_id = :replacing"
        values[":replacing"] = replacing
    item = {
        "pk": claim_pk(claim),
        "sk": "claim",
        "job_id": job.id,
        "fingerprint": job.fingerprint,
        "until": millis(until),
        "expires_at": int(until),
        **joined,
    }
    return put(item, condition, values)
