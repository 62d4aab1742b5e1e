"""The job store: reading jobs, their outputs and their work; moving a job from state to state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tidegate.doors.actions import Action, Item, update
from tidegate.doors.answers import Answer, answer_of
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.envelope import Cached
from tidegate.doors.items import attributes, content_sk, job_of, job_pk, millis, shard, work_pk
from tidegate.doors.payloads import Payloads
from tidegate.errors import DoorError, LostFence
from tidegate.rules.job import Job

_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Work:
    """What is known of a job key for one partner."""

    running: str | None
    """Id of the partner's job that is at it."""
    answer: Answer | None


class NeededFailed(LostFence):
    """What a transition needs did not hold; the job itself is as it was."""

    def __init__(self, message: str, found: Sequence[Item | None]) -> None:
        super().__init__(message)
        self.found = found
        """One per needed action: what is there where it failed, None where it did not."""


class Jobs:
    """Jobs in DynamoDB, the only authority."""

    def __init__(self, table: Table, payloads: Payloads) -> None:
        self._table = table
        self._payloads = payloads

    def load(self, job_id: str) -> Job | None:
        """Return a job as it is now, or None."""
        item = self._table.get(job_pk(job_id), "status")
        return None if item is None else job_of(item)

    def input(self, job_id: str) -> dict[str, Any]:
        """Return what was asked: `input` and `params`."""
        item = self._table.get(job_pk(job_id), "input")
        if item is None:
            raise DoorError(f"{job_id} has no input item")
        value: dict[str, Any] = self._payloads.get(item)
        return value

    def shown(self, job: Job) -> tuple[dict[str, str], dict[str, Any] | None]:
        """Return the partner's notes on a job, and its output or None."""
        found = self._table.query(job_pk(job.id), "metadata", "output")
        values = {item["sk"]: self._payloads.get(item) for item in found}
        output = values.get("output")
        if output is None and job.answer_of not in {None, job.id}:
            output = self.output(job.answer_of)
        return values.get("metadata", {}), output

    def output(self, job_id: str) -> dict[str, Any] | None:
        """Return what a job holds as its output, or None."""
        item = self._table.get(job_pk(job_id), "output")
        return None if item is None else self._payloads.get(item)

    def work(self, job_key: str, partner: str) -> Work:
        """Return what is running or answered under a job key, read consistently."""
        items = {i["sk"]: i for i in self._table.query(work_pk(job_key), "answer", "job#~")}
        running = items.get(content_sk(partner), {}).get("job_id")
        return Work(running, answer_of(items.get("answer")))

    def answer(self, key: str) -> Answer | None:
        """Return the durable answer under a key, read consistently."""
        return answer_of(self._table.get(work_pk(key), "answer"))

    def kept(self, answer: Answer) -> Cached | None:
        """Return a durable answer with its output; None if that is gone."""
        output = self.output(answer.job_id)
        return None if output is None else answer.with_output(output)

    def transition(
        self,
        old: Job,
        new: Job,
        needed: Sequence[Action] = (),
        freed: Sequence[Action] = (),
        *,
        answer_found: bool = False,
    ) -> Job:
        """Write `new` over `old` with more in one transaction, and return it.

        The condition is the fence: attempt and version must be what they were. `needed` must hold
        too; an action of `freed` that no longer holds (already released, taken over) is left out.
        An answer that was found, and not made by this attempt's own call, must besides be as new
        as those who joined the job ask for.

        Raises:
            LostFence: the job is not as it was, and it was not this write that changed it.
            NeededFailed: it is as it was, but what is needed does not hold.
        """
        new = replace(new, version=old.version + 1)
        condition = "#attempt = :attempt AND #version = :version"
        values: dict[str, Any] = {":attempt": old.attempt, ":version": old.version}
        if answer_found and new.answered_at is not None:
            condition += " AND (attribute_not_exists(#newer_than) OR #newer_than <= :made)"
            values[":made"] = millis(new.answered_at)
        head = update(job_pk(old.id), "status", _changes(old, new), condition, values)
        try:
            self._table.write([head, *needed, *freed])
        except ConditionFailed as failed:
            if failed.found[0] is not None:
                return _own(failed.found[0], new)
            wanting = failed.found[1 : 1 + len(needed)]
            if any(found is not None for found in wanting):
                raise NeededFailed(
                    f"{old.id}: another attempt is at this work", wanting
                ) from failed
            held = failed.found[1 + len(needed) :]
            kept = [action for action, found in zip(freed, held, strict=True) if found is None]
            return self.transition(old, new, needed, kept, answer_found=answer_found)
        return new

    def look_again(self, job: Job, at: float | None, *, resent_at: float | None = None) -> None:
        """Say when the sweeper looks at a job next, None is never, and when it sent a message.

        No transition: it fences nobody out, and if the job has moved on it says nothing.
        """
        changes: dict[str, Any] = {
            "due_shard": None if at is None else shard(job.id),
            "due_at": None if at is None else millis(at),
        }
        if resent_at is not None:
            changes["resent_at"] = millis(resent_at)
        with suppress(ConditionFailed):
            self._table.write([_noted(job, changes)])

    def resend(self, job: Job, token: str, now: float) -> bool:
        """Return whether it is this caller who sends another message for a job as it was read.

        Of many who ask at once it is one; `token` is how that one knows itself. No transition:
        the worker that comes with the first message meanwhile is not fenced out.
        """
        condition, values = " AND attribute_not_exists(#resent_at)", {}
        if job.resent_at is not None:
            condition, values = " AND #resent_at = :before", {":before": millis(job.resent_at)}
        changes = {"resent_at": millis(now), "resent_by": token}
        try:
            self._table.write([_noted(job, changes, condition, values)])
        except ConditionFailed as failed:
            there = failed.found[0] or {}
            return there.get("resent_by") == token
        return True


def _noted(
    job: Job, changes: dict[str, Any], condition: str = "", values: Mapping[str, Any] = _NOTHING
) -> Action:
    """Return what notes something on a job that is as it was read, and moves it nowhere."""
    fence = "#attempt = :attempt AND #version = :version"
    fenced = {":attempt": job.attempt, ":version": job.version, **values}
    return update(job_pk(job.id), "status", changes, fence + condition, fenced)


def _changes(old: Job, new: Job) -> dict[str, Any]:
    before, after = attributes(old), attributes(new)
    return {name: value for name, value in after.items() if before[name] != value}


def _own(found: Item, new: Job) -> Job:
    """Return `new` if what is there is exactly this write (its reply was lost).

    When the sweeper looks next, when a message was sent, and what those who join it ask for may
    have changed since.
    """
    if found:
        there = replace(
            job_of(found),
            due_at=new.due_at,
            newer_than=new.newer_than,
            resent_at=new.resent_at,
        )
        if attributes(there) == attributes(new):
            return new
    raise LostFence(f"{new.id}: the job has moved on")
