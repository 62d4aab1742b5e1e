"""Pace, pauses, turns and the operator's switch, broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.explorer import memory_scripts
from tests.explorer.memory_keys import Keys
from tests.explorer.mutants import Patch, mutant
from tidegate.doors.attempts import Attempts
from tidegate.doors.line import Line
from tidegate.doors.pace import Pace
from tidegate.doors.queue import Queue
from tidegate.flows import work
from tidegate.flows.outcome import ACKNOWLEDGED
from tidegate.flows.pacing import Pacing
from tidegate.rules.job import Job

ASKS, AWAITED = "the vendor asks to wait: pause, probe, go on", "one slot is awaited, one is not"

Change = Callable[[Keys, list[str], list[Any]], None]


def before(name: str, change: Change) -> list[Patch]:
    """Let a script meet a Redis, or arguments, that somebody changed just before."""
    original = memory_scripts.SCRIPTS[name]

    def twin(redis: Keys, keys: list[str], args: list[Any]) -> Any:
        args = list(args)
        change(redis, keys, args)
        return original(redis, keys, args)

    return [(memory_scripts, "SCRIPTS", {**memory_scripts.SCRIPTS, name: twin})]


def _replaced(name: str, twin: Any) -> list[Patch]:
    return [(memory_scripts, "SCRIPTS", {**memory_scripts.SCRIPTS, name: twin})]


@mutant("a pause is overwritten by a shorter one", "our account is refused", at=1)
def _() -> list[Patch]:
    return before("pace_cool_down", lambda redis, keys, _: redis.drop(keys[0], "until"))


@mutant("a pause is not looked at", ASKS, at=0)
def _() -> list[Patch]:
    return before("pace_take", lambda redis, keys, _: redis.drop(keys[0], "until"))


@mutant("a booking is not stopped any more", "an operator pauses while a slot is awaited", at=0)
def _() -> list[Patch]:
    def change(redis: Keys, keys: list[str], _args: list[Any]) -> None:
        if redis.fields(keys[5]):
            redis.drop(keys[0], "until", "off")

    return before("pace_take", change)


@mutant("everybody probes", ASKS, at=0)
def _() -> list[Patch]:
    return before("pace_take", lambda redis, keys, _: redis.drop(keys[0], "probe"))


@mutant("an answer from before ends the pause", "refused while another call is under way", at=0)
def _() -> list[Patch]:
    def change(redis: Keys, keys: list[str], args: list[Any]) -> None:
        if args[1] == "answered" and redis.fields(keys[0]).get("strikes", "0") != "0":
            redis.put(keys[0], strikes=0)

    return before("pace_settle", change)


@mutant("a refusal pauses nobody", ASKS, at=0)
def _() -> list[Patch]:
    return [(Pacing, "refused", lambda *_: None)]


@mutant("a refusal pauses its own job alone", "the probe is refused too", at=0)
def _() -> list[Patch]:
    return [(Pacing, "refused", lambda _self, _caller, error: error.retry_after)]


@mutant("a slot is not known by its reservation", AWAITED, at=0)
def _() -> list[Patch]:
    return before("pace_take", lambda redis, keys, _: redis.drop(keys[5], "start"))


@mutant("the vendor's limit is not looked at", AWAITED, at=0)
def _() -> list[Patch]:
    def change(_redis: Keys, _keys: list[str], args: list[Any]) -> None:
        args[4] = "0"

    return before("pace_take", change)


@mutant("calls in flight are not counted", "priority low", at=0)
def _() -> list[Patch]:
    def change(_redis: Keys, _keys: list[str], args: list[Any]) -> None:
        args[2], args[3] = 99, 0

    return before("pace_take", change)


@mutant("lane low has no share of its own", "priority low", at=0)
def _() -> list[Patch]:
    def change(_redis: Keys, _keys: list[str], args: list[Any]) -> None:
        args[3] = 0

    return before("pace_take", change)


@mutant("a slot without a call is not given back", "cancelled before the start", at=1)
def _() -> list[Patch]:
    return [(Pace, "give_back", lambda *_: None)]


@mutant("a call's slot is not given back", "one job", at=0)
def _() -> list[Patch]:
    return [(Pace, "settle", lambda *_args, **_named: None)]


@mutant("a pause has no end of life in Redis", ASKS, at=0)
def _() -> list[Patch]:
    def switch(redis: Keys, keys: list[str], args: list[Any]) -> int:
        redis.put(keys[0], known=1, off=args[0], off_until=args[1])
        return 1

    return _replaced("pace_switch", switch)


@mutant("a refused account costs a start", "our account is refused", at=0)
def _() -> list[Patch]:
    def put_back(self: Attempts, job: Job, error: Any, *, retry_at: float) -> Job:
        return original(self, replace(job, starts=job.starts + 1), error, retry_at=retry_at)

    original = Attempts.put_back
    return [(Attempts, "put_back", put_back)]


@mutant("a lent message is not sent again", "two partners in line", at=0)
def _() -> list[Patch]:
    def lent(*args: Any) -> Any:
        original(*args)
        return ACKNOWLEDGED

    original = work._lent
    return [(work, "_lent", lent)]


@mutant("no turn is given", "two partners in line", at=0)
def _() -> list[Patch]:
    return [(Line, "turn", lambda *_: None)]


@mutant("another try of a lent job has no message", "two partners in line", at=1)
def _() -> list[Patch]:
    def lent(job: Job, turn: Job, entry: Any, doors: Any, remaining: Any) -> Any:
        return original(job, turn, entry, replace(doors, queue=_Mute()), remaining)

    original = work._lent
    return [(work, "_lent", lent)]


class _Mute:
    def send(self, *_args: Any) -> None:
        pass


@mutant("a partner's posts are not counted", "a partner posts too often", at=0)
def _() -> list[Patch]:
    return _replaced("rate_take", lambda *_: [1, 1, 0])


@mutant("a post told twice counts twice", "a partner posts too often", at=1)
def _() -> list[Patch]:
    return before("rate_take", lambda redis, keys, _: redis.drop(keys[0], "last"))


@mutant(
    "whose turn it is need not be free",
    at=-1,
    why="its lease and its claim are asked for besides",
)
def _() -> list[Patch]:
    from tidegate.flows import turn

    return [(turn, "_ready", lambda *_: True)]


@mutant("an ended job stays in the line", "one key twice", at=1)
def _() -> list[Patch]:
    return [(Line, "leave", lambda *_: None)]


@mutant("the switch is in Redis alone", "an operator's pause survives Redis", at=0)
def _() -> list[Patch]:
    def tell(self: Pacing) -> None:
        self.pace.switch(off=False, until=None, turned=False)

    return [(Pacing, "_tell_switch", tell)]


@mutant("an older state of the switch counts", "an operator pauses as the first job comes", at=1)
def _() -> list[Patch]:
    def tell(self: Pacing) -> None:
        switch = self.switches.read(self.model)
        self.pace.switch(off=switch.off, until=switch.until, turned=False, at=9e9)

    return [(Pacing, "_tell_switch", tell)]


@mutant("the worker does not look whether a slot was granted", AWAITED, at=0)
def _() -> list[Patch]:
    from tidegate.doors.pace import Slot

    return [(Slot, "granted", property(lambda _slot: True))]


@mutant("a deferral of lane low goes to the other queue", "priority low", at=1)
def _() -> list[Patch]:
    def send(self: Queue, url: str, *args: Any) -> None:
        original(self, url.removesuffix("-low") if len(args) > 2 else url, *args)

    original = Queue.send
    return [(Queue, "send", send)]
