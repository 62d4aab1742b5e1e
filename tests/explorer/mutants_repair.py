"""Sweeping, re-opening and replaying, broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.explorer.mutants import Patch, mutant
from tidegate.doors import claims, endings
from tidegate.doors.actions import Action
from tidegate.doors.endings import Endings
from tidegate.doors.queue import Message
from tidegate.flows import replay, sweep
from tidegate.rules.job import Job
from tidegate.rules.replay_verdict import Deed


@mutant("no sweeper", "one job", at=1)
def _() -> list[Patch]:
    return [(sweep, "look", lambda *_: "nothing")]


def _look(change: Callable[[Job, Any], tuple[Job, Any]]) -> list[Patch]:
    def look(job: Job, doors: Any, catalogue: Any) -> str:
        seen, through = change(job, doors)
        return original(seen, through, catalogue)

    original = sweep.look
    return [(sweep, "look", look)]


class _Mute:
    def send(self, *_args: Any) -> None:
        pass


@mutant("the sweeper sends nothing", "one job", at=1)
def _() -> list[Patch]:
    return _look(lambda job, doors: (job, replace(doors, queue=_Mute())))


@mutant(
    "the sweeper knows no deadline",
    at=-1,
    why="the message it sends brings a worker, and he knows it",
)
def _() -> list[Patch]:
    return _look(lambda job, doors: (replace(job, deadline_at=9e9), doors))


@mutant(
    "the sweeper does not see who holds a job",
    at=-1,
    why="what is held is not due before its holder is dead",
)
def _() -> list[Patch]:
    return _look(lambda job, doors: (replace(job, owner_until=0.0), doors))


@mutant(
    "the sweeper takes the index at its word",
    at=-1,
    why="it sends a message too many, which is a hint too many",
)
def _() -> list[Patch]:
    def look(job: Job, doors: Any, catalogue: Any) -> str:
        return original(replace(job, due_at=doors.clock.now()), doors, catalogue)

    original = sweep.look
    return [(sweep, "look", look)]


@mutant("nobody remembers that a copy is owed", "quarantined", at=1)
def _() -> list[Patch]:
    def end(self: Endings, *args: Any, **named: Any) -> Job:
        return original(self, *args, **{**named, "owed": False})

    original = Endings.end
    return [(Endings, "end", end)]


@mutant("every straggler re-opens its job", "vendor is down", at=0)
def _() -> list[Patch]:
    return [(Message, "redriven_after", lambda *_: True)]


@mutant("no redrive re-opens a job", "dead-lettered and redriven by hand", at=0)
def _() -> list[Patch]:
    return [(Message, "redriven_after", lambda *_: False)]


@mutant(
    "re-opened although its key names another job", "redriven while the client asks again", at=1
)
def _() -> list[Patch]:
    def kept(job: Job) -> Action:
        return replace(original(job), condition="", values={})

    original = claims.kept_claim
    return [(endings, "kept_claim", kept)]


@mutant("re-opened under the old fence", "dead-lettered and redriven by hand", at=0)
def _() -> list[Patch]:
    def reopen(self: Endings, job: Job, *, now: float) -> Job:
        return original(self, replace(job, attempt=0), now=now)

    original = Endings.reopen
    return [(Endings, "reopen", reopen)]


def _do(order: Any) -> list[Patch]:
    return [(replay._Run, "_do", order)]


@mutant("replay: deleted before it is re-opened", "replayed", at=1)
def _() -> list[Patch]:
    def do(self: Any, deed: Deed, why: str | None, job: Any, message: Any) -> Any:
        if message is not None and deed in {Deed.REPLAY, Deed.SEND}:
            self.reading.delete(message)
        return original(self, deed, why, job, None)

    original = replay._Run._do
    return _do(do)


@mutant("replay: sent, but not re-opened", "replayed", at=0)
def _() -> list[Patch]:
    def do(self: Any, deed: Deed, why: str | None, job: Any, message: Any) -> Any:
        return original(self, Deed.SEND if deed is Deed.REPLAY else deed, why, job, message)

    original = replay._Run._do
    return _do(do)


@mutant(
    "replay: what is open again already is not sent again",
    at=-1,
    why="what is open again is due: the sweeper sends it",
)
def _() -> list[Patch]:
    def do(self: Any, deed: Deed, why: str | None, job: Any, message: Any) -> Any:
        return original(self, Deed.DELETE if deed is Deed.SEND else deed, why, job, message)

    original = replay._Run._do
    return _do(do)
