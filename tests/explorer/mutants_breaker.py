"""The circuit breaker, and patience with a vendor that says 429, broken."""

from __future__ import annotations

from typing import Any

from tests.explorer.memory_keys import Keys
from tests.explorer.mutants import Patch, mutant
from tests.explorer.mutants_pace import before
from tidegate.errors import VendorError, VendorFailed
from tidegate.flows.finish import Finish
from tidegate.flows.pacing import Pacing
from tidegate.rules.job import Job

OUTAGE = "an outage outlasts every attempt"


@mutant("an outage opens no breaker", OUTAGE, at=0)
def _() -> list[Patch]:
    def refused(self: Pacing, caller: Any, error: Any, deadline: float) -> Any:
        failing = error.code in {"vendor_failed", "vendor_timeout"}
        return None if failing else original(self, caller, error, deadline)

    original = Pacing.refused
    return [(Pacing, "refused", refused)]


@mutant("a failure while the breaker is open costs an attempt", OUTAGE, at=0)
def _() -> list[Patch]:
    def failed(self: Finish, job: Job, error: Any, entry: Any, paused: Any) -> Any:
        return original(self, job, error, entry, paused if error.code == "throttled" else None)

    original = Finish.failed
    return [(Finish, "failed", failed)]


@mutant("a 429 costs an attempt", "429 outlasts every attempt", at=0)
def _() -> list[Patch]:
    def failed(self: Finish, job: Job, error: VendorError, entry: Any, paused: Any) -> Any:
        error = VendorFailed(str(error), vendor_status=500, retry_after=paused)
        return original(self, job, error, entry, None)

    original = Finish.failed
    return [(Finish, "failed", failed)]


@mutant("one job that fails again and again opens the breaker", "one job alone opens no breaker", 0)
def _() -> list[Patch]:
    def change(_redis: Keys, _keys: list[str], args: list[Any]) -> None:
        args[9] = args[0]  # each call is another job

    return before("pace_cool_down", change)


@mutant("an open breaker is not looked at", OUTAGE, at=0)
def _() -> list[Patch]:
    def change(redis: Keys, keys: list[str], _args: list[Any]) -> None:
        if redis.fields(keys[0]).get("reason") == "failing":
            redis.drop(keys[0], "until")

    return before("pace_take", change)


@mutant("everybody probes a vendor that fails", OUTAGE, at=0)
def _() -> list[Patch]:
    def change(redis: Keys, keys: list[str], _args: list[Any]) -> None:
        if redis.fields(keys[0]).get("reason") == "failing":
            redis.drop(keys[0], "probe")

    return before("pace_take", change)
