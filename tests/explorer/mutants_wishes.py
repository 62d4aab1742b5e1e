"""The cache, broken: epochs, what callers ask of it, damage, structure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.explorer import memory_scripts
from tests.explorer.memory_keys import Keys
from tests.explorer.mutants import Patch, mutant
from tests.explorer.mutants_cache import BYPASS, twin
from tidegate.doors import endings, envelope
from tidegate.doors.cache import Cache, Look
from tidegate.doors.claims import Claims
from tidegate.doors.epochs import EpochBook
from tidegate.doors.jobs import Jobs
from tidegate.flows import at_hand
from tidegate.flows.asked import Asked
from tidegate.flows.finish import Finish
from tidegate.rules import keys
from tidegate.rules.directives import Directives
from tidegate.rules.epochs import NEVER
from tidegate.rules.job import Job

RUNNING = "declared void beside a running job"
LEARNT = "declared void while a request learns the epochs"
NAMES = "the same code under two names"


@mutant("the epochs are not in the job key", RUNNING, at=0)
def _() -> list[Patch]:
    def job_key(meaning: Any, _epochs: Any) -> str:
        return original(meaning, NEVER)

    original = keys.job_key
    return [(keys, "job_key", job_key)]


@mutant("an older epoch is copied over a newer one", LEARNT, at=1)
def _() -> list[Patch]:
    def epochs_raise(redis: Keys, names: list[str], args: list[Any]) -> int:
        for key in names:
            redis.delete(key)
        return original(redis, names, args)

    original = memory_scripts.epochs_raise
    return twin("epochs_raise", epochs_raise)


@mutant("an invalidation is told to Redis alone", LEARNT, at=0)
def _() -> list[Patch]:
    def begin(_self: EpochBook, _model: Any, _partner: Any, at: int, *_why: Any) -> int:
        return at

    return [(EpochBook, "begin", begin)]


@mutant("an invalidation is not told to Redis", RUNNING, at=0)
def _() -> list[Patch]:
    return [(EpochBook, "tell", lambda *_: None)]


@mutant("epochs heard before are believed", LEARNT, at=0)
def _() -> list[Patch]:
    def ask(asked: Any, *rest: Any) -> Any:
        epochs, look, other = original(asked, *rest)
        return (asked.epochs if any(asked.epochs) or not any(epochs) else NEVER), look, other

    original = at_hand._ask
    return [(at_hand, "_ask", ask)]


@mutant(
    "a joined job does not hear what is asked", "no-cache while a job waits for a refresh", at=0
)
def _() -> list[Patch]:
    def join(self: Claims, *args: Any, newer_than: float = 0.0, **named: Any) -> Any:
        return original(self, *args, **named)

    original = Claims.join
    return [(Claims, "join", join)]


@mutant(
    "one partner's invalidation is nothing where all share answers",
    "one partner's answers are void where all share them",
    at=0,
)
def _() -> list[Patch]:
    return [(Asked, "_void_until", property(lambda _asked: 0))]


@mutant("no-store is stored", "no-store", at=0)
def _() -> list[Patch]:
    def promote(self: Finish, job: Job, *rest: Any) -> None:
        original(self, replace(job, reusable=True), *rest)

    original = Finish._promote
    return [(Finish, "_promote", promote)]


@mutant("no-store leaves a durable answer", "no-store", at=0)
def _() -> list[Patch]:
    def found_by(job: Job, *rest: Any) -> Any:
        return original(replace(job, reusable=True), *rest)

    original = endings._found_by
    return [(endings, "_found_by", found_by)]


@mutant("no-store joins what runs", "no-store", at=0)
def _() -> list[Patch]:
    return [(keys, "joins", lambda *_: True)]


@mutant("no-cache is not heard", BYPASS, at=0)
def _() -> list[Patch]:
    return [(Directives, "accepts", lambda *_: True)]


@mutant("a damaged answer is served", "an answer is damaged in Redis", at=0)
def _() -> list[Patch]:
    return [(envelope, "proof", lambda *_: "0" * 64)]


@mutant(
    "a damaged answer stays where it is",
    at=-1,
    why="the durable answer is promoted over it",
)
def _() -> list[Patch]:
    return twin("remove_if", lambda *_: 0)


@mutant("code is answered in another's names", NAMES, at=0)
def _() -> list[Patch]:
    return [(at_hand, "renamed", lambda output, *_: output)]


@mutant("nothing is found by structure", NAMES, at=0)
def _() -> list[Patch]:
    def heard(self: Cache, job_key: str, replies: Any, now: float) -> Look:
        look = original(self, job_key, replies, now)
        named = look.result is not None and look.result.names
        return replace(look, result=None) if named else look

    original = Cache.heard
    return [(Cache, "heard", heard), (Jobs, "answer", lambda *_: None)]
