"""Accepting: idempotency claim, content claim, job and input in one transaction, all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tidegate.doors.actions import Action, Item, check, put, update
from tidegate.doors.dynamo import ConditionFailed, Table
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
from tidegate.rules.job import KEY_LIFE, Job

CLAIM_LIFE = KEY_LIFE + 3600
"""Seconds a claim is kept after its job's deadline. The sweeper may end a job minutes after it,
and a key lives from the end; whether it still does is asked of the job."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an Idempotency-Key points at."""

    job_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A job whose claim a new one may take over, as it was when that was decided."""

    job_id: str
    version: int | None
    """None: its items are gone."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Why a job was not created: its key is claimed, the same work is running, or no funds."""

    claim: Claim | None = None
    running: str | None = None
    short: bool = False


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
        replacing: Ended | None = None,
        effects: Sequence[Action] = (),
        output: dict[str, Any] | None = None,
    ) -> Taken | None:
        """Store a new job with its claims; None if it is there now, else what is in its place.

        Args:
            job: the job; a finished one (an answer reused) claims no work and needs no input.
            claim: name of the idempotency claim.
            asked: input and parameters, kept beside the job.
            metadata: the partner's notes.
            now: seconds since the epoch.
            replacing: an ended job whose claim this one may take over, if it is as it was: an
                operator may be re-opening it.
            effects: the ledger's actions; the last one fails where funds do not reach.
            output: what a finished job has as its own, and not as the answer of another.
        """
        keep = int(job.deadline_at) + RETENTION
        base = {"pk": job_pk(job.id), "expires_at": keep}
        actions = [
            _claim(job, claim, now, replacing),
            put(status_item(job), "attribute_not_exists(pk)"),
            *_as_it_was(replacing),
        ]
        if metadata:
            notes = self._payloads.put(f"{job.id}/metadata", metadata)
            actions.append(put({**base, "sk": "metadata", **notes}))
        if output is not None:
            own = self._payloads.put(f"{job.id}/output-0", output)
            actions.append(put({**base, "sk": "output", **own, "expires_at": keep + RETENTION}))
        if not job.done:
            actions.append(content(job, now))
            body = self._payloads.put(f"{job.id}/input", asked)
            actions.append(put({**base, "sk": "input", **body}))
        try:
            self._table.write([*actions, *effects])
        except ConditionFailed as failed:
            return _taken(failed.found, funded=bool(effects))
        return None

    def find(self, claim: str) -> Claim | None:
        """Return what a claim points at; its job says whether it still holds."""
        item = self._table.get(claim_pk(claim), "claim")
        return None if item is None else Claim(item["job_id"], item["fingerprint"])

    def join(
        self,
        job: Job,
        claim: str,
        fingerprint: str,
        token: str,
        *,
        now: float,
        replacing: Ended | None = None,
        newer_than: float = 0.0,
    ) -> Taken | None:
        """Point a claim at a job that is running; None if done, else what is in its place.

        `token` names this request, so that it knows its own write from an earlier request's.
        `newer_than` is before when its answer must not have been made: the job is told so.
        """
        joined = {"fingerprint": fingerprint, "token": token}
        mine = _claim(job, claim, now, replacing, joined)
        try:
            self._table.write([mine, *_as_it_was(replacing), *_tightened(job, newer_than)])
        except ConditionFailed as failed:
            found = failed.found[0]
            if found is not None and found.get("token") == token:
                return None
            return Taken(None if found is None else Claim(found["job_id"], found["fingerprint"]))
        return None


def _taken(found: Sequence[Item | None], *, funded: bool) -> Taken | None:
    claimed, stored = found[0], found[1]
    if stored:
        return None  # a job id is never given twice: this is our own write, its reply was lost
    if claimed is not None:
        return Taken(Claim(claimed["job_id"], claimed["fingerprint"]))
    running = next((i["job_id"] for i in found[2:] if i and i["sk"].startswith("job#")), None)
    if running is not None:
        return Taken(running=running)
    return Taken(short=funded and found[-1] is not None)


def _tightened(job: Job, newer_than: float) -> list[Action]:
    """Return what lets a job that runs take no answer of before; it is no transition of it."""
    if millis(newer_than) <= millis(job.newer_than):
        return []
    condition = (
        "attribute_exists(pk) AND attribute_not_exists(#finished_at)"
        " AND (attribute_not_exists(#newer_than) OR #newer_than < :bound)"
    )
    bound = millis(newer_than)
    changes = {"newer_than": bound}
    return [update(job_pk(job.id), "status", changes, condition, {":bound": bound})]


def _as_it_was(ended: Ended | None) -> list[Action]:
    if ended is None:
        return []
    condition = "attribute_not_exists(pk)"
    values = {}
    if ended.version is not None:
        condition += " OR #version = :version"
        values[":version"] = ended.version
    return [check(job_pk(ended.job_id), "status", condition, values)]


def content(job: Job, now: float) -> Action:
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
    replacing: Ended | None,
    joined: Mapping[str, str] = MappingProxyType({}),
) -> Action:
    # TTL deletion is lazy (DynamoDB: within days), so life is checked in the condition.
    condition = "attribute_not_exists(pk) OR #until < :now"
    values: dict[str, Any] = {":now": millis(now)}
    if replacing is not None:
        condition += " OR #job_id = :replacing"
        values[":replacing"] = replacing.job_id
    return put({**_claim_item(job, claim), **joined}, condition, values)


def kept_claim(job: Job) -> Action:
    """Return the claim of a job that is re-opened: it must still be its own, or be gone."""
    condition = "attribute_not_exists(pk) OR #job_id = :mine"
    return put(_claim_item(job, job.idempotency_hash), condition, {":mine": job.id})


def _claim_item(job: Job, claim: str) -> dict[str, Any]:
    until = job.deadline_at + CLAIM_LIFE
    return {
        "pk": claim_pk(claim),
        "sk": "claim",
        "job_id": job.id,
        "fingerprint": job.fingerprint,
        "until": millis(until),
        "expires_at": int(until),
    }
