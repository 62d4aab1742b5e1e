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
from tidegate.doors.pace import Caller, Outcome, Pace, Reason, Slot
from tidegate.doors.switches import Switches
from tidegate.errors import (
    CacheUnavailable,
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
    VendorUnreachable,
)
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


SERVER_ERROR = 500
"""Statuses from here on say that the vendor failed, not the request."""

AT_ONCE: dict[Reason, str] = {"throttled": "Throttled", "account": "VendorAccountRefused"}
"""Metrics of each refusal."""

OPENED: dict[Reason, str] = {"failing": "BreakerOpened", "refusing": "VendorAccountRefused"}
"""Metrics of a pause that several calls have brought about."""


@dataclass(slots=True)
class Call:
    """What became of a slot, as far as it is known: its holder says so while it holds it."""

    made: bool = False
    outcome: Outcome = "failed"
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
                    self.pace.settle(caller, call.used, call.outcome)
                else:
                    self.pace.give_back(caller)

    def refused(self, caller: Caller, error: VendorError, deadline: float) -> float | None:
        """Pause the model if a vendor's error asks for it; return the seconds, or None.

        A 429 and a refusal of our account ask for it at once. Failures open the circuit breaker,
        and refusals that nobody understands pause, when there are enough of them by other jobs.
        `deadline` is the job's own: a call that ended with it says nothing about the vendor.
        Without Redis there is no pause to be set, and nobody who calls.
        """
        reason = _reason(error)
        if reason is None or (
            isinstance(error, VendorTimeout) and self.clock.now() >= deadline - MOMENT
        ):
            return None
        if reason in AT_ONCE:
            self.telemetry.count(AT_ONCE[reason], model=self.model)
        try:
            left, strikes = self.pace.cool_down(caller, error.retry_after, reason)
        except CacheUnavailable:
            self.telemetry.count("CacheUnavailable", model=self.model)
            return None
        if not left:
            return None
        if reason in OPENED:
            self.telemetry.count(OPENED[reason], model=self.model)
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


def outcome(error: VendorError) -> Outcome:
    """Return what an error says of the vendor: a refusal for good shows that it takes calls.

    One whose reason is known is as good as an answer.
    """
    if not isinstance(error, VendorRefused):
        return "failed"
    return "answered" if error.known else "refused"


def _reason(error: VendorError) -> Reason | None:
    """Return why an error may pause its model; None where it never does."""
    match error:
        case VendorThrottled():
            return "throttled"
        case VendorAccount():
            return "account"
        case VendorTimeout() | VendorUnreachable():
            return "failing"
        case VendorFailed(vendor_status=int(status)) if status >= SERVER_ERROR:
            return "failing"
        case VendorRefused(known=False):
            return "refusing"
        case _:
            return None


def _exact(slot: Slot) -> bool:
    """Return whether a slot's wait is the time itself, and not the latest it can be."""
    return slot.why not in {"calls", "low_calls", "probing", "switched_off", "unknown"}
