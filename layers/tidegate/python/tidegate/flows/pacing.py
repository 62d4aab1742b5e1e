"""A slot in the model's pace: awaited if it is due soon, settled on every way out.

A slot that is further off is a deferral: the job's message is sent again, to come when there may be
one. Deferred jobs come back spread over the time that those before them in the line will take, so
that they meet neither all at once nor an idle vendor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tidegate.clock import Clock
from tidegate.doors.line import Line
from tidegate.doors.pace import Caller, Pace, Reason, Slot
from tidegate.doors.switches import Switches
from tidegate.errors import CacheUnavailable, Retry, VendorAccount, VendorError, VendorThrottled
from tidegate.flows.only_helps import only_helps
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job
from tidegate.rules.pacing import share_of
from tidegate.telemetry import Telemetry

LOOK_SOONEST, LOOK_LATEST = 0.05, 0.5
"""Seconds until it is asked again whether a place is free, or the probe was answered: a tenth of a
usual call, within these. Who has just ended one asks too, so a slow look would be overtaken."""

MOMENT = 0.001
"""Seconds that are not worth another wait."""

SETUP = 0.5
"""Seconds a worker needs between its slot and its call."""

BUSY = 10.0
"""Seconds of a deferral at most, before its spread, where the end of what is waited for is only
known to be no later: most calls end long before their lease."""

OFF = 60.0
"""Seconds until it is looked again whether an operator has resumed a model."""

SPREAD = 0.75
"""How much sooner than by the model's rate deferred jobs come back: some find it was too soon, but
no slot stays empty for want of a job."""


@dataclass(slots=True)
class Call:
    """What became of a slot, as far as it is known: its holder says so while it holds it."""

    made: bool = False
    answered: bool = False
    used: int | None = None
    """Tokens."""


@dataclass(frozen=True, slots=True)
class Pacing:
    """One model's pace, as its workers keep it."""

    model: str
    entry: Entry
    pace: Pace
    line: Line
    switches: Switches
    clock: Clock
    telemetry: Telemetry

    def slot(
        self, caller: Caller, life: Callable[[], float], remaining: Callable[[], float]
    ) -> Slot:
        """Return a granted slot, or what stands in the way for longer than is waited for here.

        Args:
            caller: who asks.
            life: seconds the caller can live at most.
            remaining: seconds until the function is ended.

        Raises:
            CacheUnavailable: Redis is out of reach: nobody calls without a pace.
        """
        patience = min(self.entry.pace.horizon, remaining() - self.entry.timeouts.total - SETUP)
        begun = self.clock.now()
        end = begun + patience
        booked = False
        while True:
            left = max(0.0, end - self.clock.now())
            slot = self.pace.take(caller, life(), left)
            if slot.granted:
                waited = self.clock.now() - begun
                self.telemetry.duration("PaceWait", waited, model=self.model)
                return slot
            booked = slot.why == "booked" or (booked and slot.why in {"calls", "low_calls"})
            if slot.why == "unknown":
                self._tell_switch()
                continue
            if slot.why == "switched_off" or left < MOMENT or (_exact(slot) and slot.wait > left):
                break
            self.clock.sleep(slot.wait if _exact(slot) else min(slot.wait, self._look(), left))
        if booked:
            with only_helps(self.telemetry, self.model):
                self.pace.give_back(caller)
        return slot

    @contextmanager
    def held(self, caller: Caller) -> Iterator[Call]:
        """Settle a granted slot, whatever happens while it is held."""
        call = Call()
        try:
            yield call
        finally:
            with only_helps(self.telemetry, self.model):
                if call.made:
                    self.pace.settle(caller, call.used, answered=call.answered)
                else:
                    self.pace.give_back(caller)

    def refused(self, caller: Caller, error: VendorError) -> float | None:
        """Pause the model if that is what a vendor's error asks for; return the seconds, or None.

        Without Redis there is no pause to be set, and nobody who calls.
        """
        reason: Reason
        if isinstance(error, VendorThrottled):
            reason, metric = "throttled", "Throttled"
        elif isinstance(error, VendorAccount):
            reason, metric = "account", "VendorAccountRefused"
        else:
            return None
        self.telemetry.count(metric, model=self.model)
        try:
            left, strikes = self.pace.cool_down(caller, error.retry_after, reason)
        except CacheUnavailable:
            self.telemetry.count("CacheUnavailable", model=self.model)
            return None
        self.telemetry.warn("paused", reason=reason, seconds=left, in_a_row=strikes)
        self.telemetry.duration("Pause", left, model=self.model)
        return left

    def deferral(self, job: Job, slot: Slot) -> float:
        """Return the seconds until a job that got no slot is to be asked for again."""
        at_most = OFF if slot.why == "switched_off" else BUSY
        return self.spread(job, slot.wait if _exact(slot) else min(slot.wait, at_most))

    def spread(self, job: Job, wait: float) -> float:
        """Return `wait`, and the seconds that the jobs before this one in the line will take."""
        ahead = 0
        with only_helps(self.telemetry, self.model):
            ahead = self.line.join(job)
        return wait + SPREAD * ahead * self.entry.pace.cost(job.tokens, self.entry.in_flight)

    def cap(self) -> int:
        """Return the calls in flight that one partner may hold while others wait."""
        return share_of(self.entry.in_flight, self.entry.shares.partner)

    def _look(self) -> float:
        usual = self.entry.pace.expected_latency
        soon = LOOK_LATEST if usual is None else usual / 10
        return min(max(soon, LOOK_SOONEST), LOOK_LATEST)

    def _tell_switch(self) -> None:
        told = None
        while (switch := self.switches.read(self.model)) != told:  # an operator may just turn it
            self.pace.switch(off=switch.off, until=switch.until, turned=False, at=switch.at)
            told = switch


def answered(error: VendorError) -> bool:
    """Return whether an error shows that the vendor takes calls: it refused this one for good."""
    return error.retry is Retry.PERMANENT


def _exact(slot: Slot) -> bool:
    """Return whether a slot's wait is the time itself, and not the latest it can be."""
    return slot.why not in {"calls", "low_calls", "probing", "switched_off", "unknown"}
