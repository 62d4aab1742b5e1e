"""The cache, broken: ages, refreshes, remembered failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.explorer import memory_scripts
from tests.explorer.memory_keys import Keys
from tests.explorer.mutants import Patch, mutant
from tidegate.doors import answers, claims, endings
from tidegate.doors.actions import Action
from tidegate.doors.cache import Cache
from tidegate.flows import at_hand, refresh
from tidegate.flows.asked import Asked
from tidegate.flows.finish import Finish
from tidegate.rules.job import OPERATOR, Job

TWO = "stale for two at once"
BRIEF = "stale, and ended while it is made anew"
REFUSED = "stale, and the vendor refuses"
BYPASS = "no-cache beside an answer and a running job"


def twin(name: str, other: Any) -> list[Patch]:
    """Return the patch of a script's twin."""
    return [(memory_scripts, "SCRIPTS", {**memory_scripts.SCRIPTS, name: other})]


@mutant("a refresh is neither marked nor claimed", TWO, at=0)
def _() -> list[Patch]:
    def content(job: Job, now: float) -> Action:
        action = original(job, now)
        return replace(action, condition="", values={}) if job.partner == OPERATOR else action

    original = claims.content
    return [
        (Cache, "begin_refresh", lambda *_: True),
        (claims, "content", content),
        (endings, "content", content),
    ]


@mutant("a failed refresh leaves no pause", REFUSED, at=0)
def _() -> list[Patch]:
    def begin(self: Cache, job_key: str, stale: Any, token: str, _seconds: float) -> bool:
        return original(self, job_key, stale, token, 1.0)

    original = Cache.begin_refresh
    return [(Cache, "begin_refresh", begin)]


@mutant("the pause after a refresh outlives its success", TWO, at=0)
def _() -> list[Patch]:
    def begin(redis: Keys, names: list[str], args: list[Any]) -> Any:
        return 0 if redis.fields(names[0]) else original(redis, names, args)

    original = memory_scripts.refresh_begin
    return twin("refresh_begin", begin)


@mutant("a refresh is charged to the partner", TWO, at=0)
def _() -> list[Patch]:
    def anew(self: Asked, stale: Any, job_id: str) -> Asked:
        return replace(original(self, stale, job_id), partner=self.partner)

    original = Asked.anew
    return [(Asked, "anew", anew)]


@mutant("a refresh takes the stale answer for a new one", TWO, at=0)
def _() -> list[Patch]:
    def from_answer(self: Finish, job: Job, entry: Any) -> Any:
        return original(self, replace(job, newer_than=0.0), entry)

    original = Finish.from_answer
    return [(Finish, "from_answer", from_answer)]


@mutant("nobody makes a stale answer anew", TWO, at=0)
def _() -> list[Patch]:
    return [(refresh, "_begin", lambda *_: False)]


@mutant("an answer is served after its end", BRIEF, at=0)
def _() -> list[Patch]:
    def accepts(self: Asked, answer: Any, now: float) -> bool:
        return original(self, replace(answer, hard_until=now + 1), now)

    original = Asked.accepts
    return [(Asked, "accepts", accepts)]


@mutant("a remembered failure comes before a stale answer", REFUSED, at=0)
def _() -> list[Patch]:
    def usable(asked: Any, plain: Any, other: Any, doors: Any, now: float) -> Any:
        known = doors.cache.look(asked.job_key, now)
        failed = at_hand._failure(asked, known, now)
        return None if failed is not None else original(asked, plain, other, doors, now)

    original = at_hand._usable
    return [(at_hand, "_usable", usable)]


@mutant("a failure is remembered for ever", "refused twice, then not tried for a while", at=0)
def _() -> list[Patch]:
    def refuse(self: Cache, job_key: str, negative: Any, now: float) -> None:
        held = negative.until > negative.made_at
        original(self, job_key, replace(negative, until=now + 900 * held), now)

    original = Cache.refuse
    return [(Cache, "refuse", refuse)]


@mutant("a failure is not remembered", "refused twice, then not tried for a while", at=0)
def _() -> list[Patch]:
    return [(Cache, "refuse", lambda *_: None)]


@mutant("an older answer is promoted over a newer one", BYPASS, at=1)
def _() -> list[Patch]:
    def promote(redis: Keys, names: list[str], args: list[Any]) -> int:
        redis.delete(names[1])
        return original(redis, names, args)

    original = memory_scripts.promote
    return twin("promote", promote)


@mutant(
    "an older answer is stored over a newer one",
    at=-1,
    why="one worker at a time calls, and a promotion removes what others have staged",
)
def _() -> list[Patch]:
    def stored(key: str, answer: Any) -> Action:
        return replace(original(key, answer), condition="", values={})

    original = answers.stored
    return [(endings, "stored", stored)]
