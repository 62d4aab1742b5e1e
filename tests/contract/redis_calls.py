"""Every call of the doors to Redis, what is there before it, and all that is there after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.contract.jobs import job
from tests.contract.paces import MODEL, caller, entry, kept
from tests.contract.redis_proxy import Trouble
from tests.fakes import FakeClock
from tests.redis_time import pass_time
from tidegate.clock import SystemIds
from tidegate.doors.cache import Cache, Negative
from tidegate.doors.envelope import Cached
from tidegate.doors.epochs import EpochBook
from tidegate.doors.lease import Lease
from tidegate.doors.line import Line
from tidegate.doors.pace import Pace
from tidegate.doors.rate import Rate
from tidegate.doors.staged import Staged
from tidegate.doors.valkey import Valkey
from tidegate.rules.epochs import Epochs
from tidegate.rules.job import JobError

KEY = "0123abcd"
YEAR_2001 = 1e12
"""Milliseconds; what is less is no time."""
NEAR = 4.0
"""Seconds; anything counted twice here makes 20."""
STAGED = Staged("job_1", "raw", (), False, 1, 1, 1, None, 100.0)
NEGATIVE = Negative(JobError("gate", "schema", "", "gate"), 100.0, 130.0, 2)
ANSWER = Cached("job_1", {"text": "é" * 40_000}, 100.0, 160.0, 160.0)


@dataclass
class Doors:
    """The doors of one client, and a look at the server past them."""

    valkey: Valkey
    clock: FakeClock
    trouble: Callable[[Trouble, int], None]

    def __post_init__(self) -> None:
        self.lease, self.cache = Lease(self.valkey), Cache(self.valkey)
        self.line, self.rate = Line(self.valkey, SystemIds()), Rate(self.valkey)
        no_table: Any = None
        self.epochs = EpochBook(no_table, self.valkey)
        self.pace = Pace(
            self.valkey,
            MODEL,
            entry(2, requests_per_minute=3, tokens_per_minute=300, burst=20, horizon=60),
        )

    def together(self) -> Any:
        """Return what one round trip says of all that a post asks for."""
        asked = (self.epochs.asking("m", "acme"), self.cache.asking(KEY))
        epochs, look, rate = self.valkey.together([*asked, self.rate.asking("acme", "r", 3)])
        heard = self.epochs.heard("m", "acme", epochs)
        return heard, self.cache.heard(KEY, look, 100.0), self.rate.heard(3, rate).left

    def state(self) -> Any:
        """Return every key with its value, its times counted from now."""
        seconds, micros = self.valkey._do(lambda client: client.time(**_anywhere(client)))
        return _from(kept(self.valkey), seconds * 1000 + micros / 1000)


def _anywhere(client: Any) -> dict[str, Any]:
    return {"target_nodes": client.get_random_node()} if hasattr(client, "get_random_node") else {}


def _from(value: Any, now: float) -> Any:
    """Return a value whose times are seconds from now, near enough: a try may take a while."""
    if isinstance(value, dict):  # each asking for a turn has a name by chance
        return {key: _from(each, now) for key, each in value.items() if key != "asked"}
    if isinstance(value, list | tuple):
        return [_from(each, now) for each in value]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value
    return pytest.approx((number - now if number > YEAR_2001 else number) / 1000, abs=NEAR)


def _nothing(_doors: Doors) -> None:
    return


def _leased(doors: Doors) -> None:
    assert doors.lease.take(KEY, "mine", 30) == 0


def _known(doors: Doors) -> None:
    doors.pace.switch(off=False, until=None, turned=False)


def _placed(doors: Doors) -> None:
    _known(doors)
    assert doors.pace.take(MINE, 30, 0).granted


def _booked(doors: Doors) -> None:
    _placed(doors)
    assert doors.pace.take(OTHER, 30, 60).why == "booked"


def _paused(doors: Doors) -> None:
    _placed(doors)
    doors.pace.cool_down(MINE, 40.0, "throttled")


def _cooled(doors: Doors) -> None:
    """A pause is over, and the one who tries has begun."""
    _paused(doors)
    doors.pace.give_back(MINE)
    doors.valkey._do(lambda client: pass_time(client, 50))
    assert doors.pace.take(OTHER, 30, 0).granted


def _failing(doors: Doors) -> None:
    """One more failure opens the breaker."""
    _placed(doors)
    for n in range(4):
        assert doors.pace.cool_down(caller(f"q{n}", 100), None, "failing") == (0, 0)


def _in_line(doors: Doors) -> None:
    for partner in ("acme", "umbrella"):
        for n in range(2):
            doors.line.join(job(partner, f"job_{n}"))


def staged(doors: Doors) -> None:
    doors.cache.stage(KEY, STAGED, 60)
    doors.cache.mark_pending(KEY, "job_1", 60)


def promoted(doors: Doors) -> None:
    doors.cache.promote(KEY, ANSWER, 100.0)


def _damaged(doors: Doors) -> None:
    promoted(doors)
    doors.valkey.set(f"tg:{{{KEY}}}:result", "damaged", 60)


def _marked(doors: Doors) -> None:
    assert doors.cache.begin_refresh(KEY, ANSWER, "other", 30)


def _copied(doors: Doors) -> None:
    doors.epochs.copy("m", "acme", Epochs(1, 2, 3))


MINE, OTHER, THIRD = caller("mine", 100), caller("other", 100), caller("third", 100)
Before = Callable[[Doors], None]
CALLS: dict[str, tuple[Before, Callable[[Doors], Any]]] = {
    "lease_take": (_nothing, lambda d: d.lease.take(KEY, "mine", 30)),
    "lease_take refused": (_leased, lambda d: d.lease.take(KEY, "yours", 30) > 0),
    "lease_release": (_leased, lambda d: d.lease.release(KEY, "mine")),
    "pace_take unknown": (_nothing, lambda d: d.pace.take(MINE, 30, 0).why),
    "pace_take": (_known, lambda d: d.pace.take(MINE, 30, 0).why),
    "pace_take booked": (_placed, lambda d: d.pace.take(OTHER, 30, 60).why),
    "pace_take refused": (_placed, lambda d: d.pace.take(OTHER, 30, 1).why),
    "pace_take paused": (_paused, lambda d: d.pace.take(OTHER, 30, 60).why),
    "pace_take probing": (_cooled, lambda d: d.pace.take(THIRD, 30, 0).why),
    "give_back": (_placed, lambda d: d.pace.give_back(MINE)),
    "give_back booked": (_booked, lambda d: d.pace.give_back(OTHER)),
    "settle": (_placed, lambda d: d.pace.settle(MINE, 30, "answered")),
    "settle up": (_placed, lambda d: d.pace.settle(MINE, 300, "answered")),
    "settle probe": (_cooled, lambda d: d.pace.settle(OTHER, 100, "answered")),
    "cool_down": (_placed, lambda d: d.pace.cool_down(MINE, 40.0, "throttled")[1]),
    "cool_down again": (_cooled, lambda d: d.pace.cool_down(OTHER, 40.0, "throttled")[1]),
    "cool_down failing": (_placed, lambda d: d.pace.cool_down(MINE, None, "failing")[1]),
    "cool_down open": (_failing, lambda d: d.pace.cool_down(THIRD, None, "failing")[1]),
    "switch off": (_known, lambda d: d.pace.switch(off=True, until=None, turned=True)),
    "switch on": (_paused, lambda d: d.pace.switch(off=False, until=None, turned=True)),
    "paused": (_known, lambda d: d.pace.paused()),
    "join": (_in_line, lambda d: d.line.join(job("acme", "job_3"))),
    "turn": (_in_line, lambda d: d.line.turn(job("umbrella", "job_1"), 1)),
    "turn lent": (_placed, lambda d: d.line.turn(job("acme", "job_1"), 1)),
    "waiting": (_in_line, lambda d: d.line.waiting(job("acme"))),
    "rate_take": (_nothing, lambda d: d.rate.take("acme", "r", 3).left),
    "stage": (_nothing, lambda d: d.cache.stage(KEY, STAGED, 60)),
    "staged": (staged, lambda d: d.cache.staged(KEY)),
    "unstage": (staged, lambda d: d.cache.unstage(KEY)),
    "mark_pending": (_nothing, lambda d: d.cache.mark_pending(KEY, "job_1", 60)),
    "promote": (staged, lambda d: d.cache.promote(KEY, ANSWER, 100.0)),
    "look": (promoted, lambda d: d.cache.look(KEY, 100.0)),
    "together": (promoted, lambda d: d.together()),
    "refuse": (_nothing, lambda d: d.cache.refuse(KEY, NEGATIVE, 100.0)),
    "look damaged": (_damaged, lambda d: d.cache.look(KEY, 100.0)),
    "begin_refresh": (_nothing, lambda d: d.cache.begin_refresh(KEY, ANSWER, "me", 30)),
    "begin_refresh marked": (_marked, lambda d: d.cache.begin_refresh(KEY, ANSWER, "me", 30)),
    "epochs copy": (_nothing, lambda d: d.epochs.copy("m", "acme", Epochs(1, 2, 3))),
    "epochs tell": (_copied, lambda d: d.epochs.tell("m", None, 5)),
    "epochs tell late": (_copied, lambda d: d.epochs.tell("m", None, 0)),
}
"""By name: what is there before, and the call."""
