"""Accepting and its keys, broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.explorer.mutants import Patch, mutant
from tidegate.doors import claims, endings, jobs
from tidegate.doors.actions import Action
from tidegate.doors.claims import Claims, Taken
from tidegate.errors import Conflict
from tidegate.flows import accept, acceptance, at_hand
from tidegate.flows.asked import Asked
from tidegate.rules import keys
from tidegate.rules.job import Job


def _unconditional(make: Any) -> Any:
    def made(*args: Any, **named: Any) -> Action:
        action: Action = make(*args, **named)
        return replace(action, condition="", values={})

    return made


@mutant("the key's claim overwrites what is there", "one key twice", at=0)
def _() -> list[Patch]:
    return [(claims, "_claim", _unconditional(claims._claim))]


@mutant("the claim on the work overwrites what is there", "same work, two keys", at=1)
def _() -> list[Patch]:
    loose = _unconditional(claims.content)
    return [(claims, "content", loose), (endings, "content", loose)]


@mutant("an ended job lets nobody else have its work", "dead-lettered, then the key again", at=0)
def _() -> list[Patch]:
    def kept(job: Job) -> Action:
        freed = original(job)
        return Action("ConditionCheck", freed.pk, freed.sk)

    original = endings._content_freed
    return [(endings, "_content_freed", kept)]


@mutant("the api takes its own acceptance for a failure", "one job", at=1)
def _() -> list[Patch]:
    def taken(found: Any, *, funded: bool) -> Taken | None:
        if found[1]:
            raise Conflict("it is there already")
        return original(found, funded=funded)

    original = claims._taken
    return [(claims, "_taken", taken)]


@mutant(
    "the api takes its own acceptance for another's",
    at=-1,
    why="the claim it finds names its own job, which is sent again",
)
def _() -> list[Patch]:
    def taken(found: Any, *, funded: bool) -> Taken | None:
        return original([found[0], None, *found[2:]], funded=funded)

    original = claims._taken
    return [(claims, "_taken", taken)]


@mutant("the same key again sends no message again", "one job, the client insists", at=1)
def _() -> list[Patch]:
    return [(Job, "untouched", property(lambda _job: False))]


@mutant("a job is born as if its message had been sent", "one job, the client insists", at=1)
def _() -> list[Patch]:
    def new_work(self: Asked, job_id: str, now: float) -> Job:
        return replace(original(self, job_id, now), resent_at=now)

    original = Asked.new_work
    return [(Asked, "new_work", new_work)]


@mutant("a repeat takes its own note for another's", "one job, the client insists", at=2)
def _() -> list[Patch]:
    def noted(job: Job, changes: dict[str, Any], *more: Any) -> Action:
        if "resent_by" in changes:
            changes = {**changes, "resent_by": "somebody"}
        return original(job, changes, *more)

    original = jobs._noted
    return [(jobs, "_noted", noted)]


@mutant("the message is sent before the job is stored", "cancelled before the start", at=0)
def _() -> list[Patch]:
    def store(asked: Any, doors: Any, job: Job, *rest: Any) -> Any:
        if not job.done:
            doors.waiting_room.send(job)
        return original(asked, doors, job, *rest)

    original = acceptance.store
    return [(accept, "store", store)]


@mutant("what the pending mark says is believed", "dead-lettered, then the key again", at=0)
def _() -> list[Patch]:
    def at_work(_asked: Any, job_id: str | None, doors: Any, _now: float) -> Job | None:
        return None if job_id is None else doors.jobs.load(job_id)

    return [(accept, "at_work", at_work), (at_hand, "at_work", at_work)]


@mutant("the job key leaves the input out", "funds for one of two", at=0)
def _() -> list[Patch]:
    def job_key(meaning: Any, epochs: Any) -> str:
        return original({**meaning, "input": {}}, epochs)

    original = keys.job_key
    return [(keys, "job_key", job_key)]


@mutant("a joined request leaves no claim", "one job, the client insists", at=1)
def _() -> list[Patch]:
    return [(Claims, "join", lambda *_args, **_named: None)]


@mutant(
    "the ended job is replaced whatever became of it meanwhile",
    at=-1,
    why="the claim on the work is the re-opened job's: none other begins",
)
def _() -> list[Patch]:
    return [(claims, "_as_it_was", lambda _ended: [])]


@mutant("Redis out of reach fails a request", "one job", at=1)
def _() -> list[Patch]:
    from contextlib import nullcontext

    return [(accept, "only_helps", lambda *_: nullcontext())]
