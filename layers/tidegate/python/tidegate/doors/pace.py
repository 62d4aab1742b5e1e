"""The pace of a model, for the whole fleet: its limits, its calls in flight, its pauses.

Every answer comes from one script on the server's clock (doors/lua). Redis out of reach is
`CacheUnavailable`: then nobody calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidegate.doors.valkey import Valkey, positive_millis
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Lane
from tidegate.rules.pacing import MINUTE, Breaker, share_of

Reason = Literal["throttled", "account", "failing", "refusing"]
"""Why a model is paused: it was asked for (429), our account was refused, the breaker is open
(5xx, timeouts, dropped connections), or nothing is answered but refusals nobody understands."""

COOL_DOWNS: dict[Reason, tuple[float, float]] = {
    "throttled": (1.0, 300.0),
    "account": (60.0, 900.0),
    "failing": (2.0, 120.0),
    "refusing": (60.0, 900.0),
}
"""Seconds of the first pause of our own, and of the longest: it doubles from one to the other."""

LONGEST_PAUSE = 86_400.0
"""Seconds of a pause at most, whatever the vendor asks for: no job's deadline is further off, and
one absurd header does not close a model for a month. Then one probe asks again."""

LONGEST_DEBT = MINUTE
"""Seconds of the token limit that one call may owe beyond what was reserved for it: a vendor's
count is a number of a stranger's, and everybody waits for it."""

SLOWER = 0.75
"""What the rate is multiplied by at each new refusal; additive increase, multiplicative decrease
(Chiu and Jain, 1989): a limit that is set too high is found and kept below."""

SLOWEST = 0.05
"""Share of the limits that is used at least."""

RECOVERY = 600.0
"""Seconds in which a rate would rise from nothing to the whole."""

REFUSALS = Breaker(failures=10, calls=10, share=1.0, window=3600.0)
"""As many different jobs in a row refused, for no reason that is known, and not one answered: it
is rather our account or our request than each of them."""

KNOWN = 86_400.0
"""Seconds Redis remembers a model's switch; then it is read from the job table again."""


Outcome = Literal["answered", "refused", "failed"]
"""How a call ended for the model's pace: done; refused, by a vendor that takes calls; neither."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for a slot, and for how large a call."""

    reservation: str
    job: str
    partner: str
    lane: Lane
    tokens: int
    """Reserved: an estimate of the input, and the output at most."""

    @property
    def member(self) -> str:
        """Return its name among the calls in flight."""
        return f"{self.lane}/{self.partner}/{self.reservation}"


@dataclass(frozen=True, slots=True)
class Slot:
    """What the pace says: go on, or wait so many seconds and ask again."""

    wait: float
    why: str
    """`granted`; `booked`: the slot is kept; else what stands in the way."""

    @property
    def granted(self) -> bool:
        """Return whether the call may be made now."""
        return self.why == "granted"


class Pace:
    """Slots of one model."""

    def __init__(self, valkey: Valkey, model: str, entry: Entry) -> None:
        self._valkey = valkey
        self._model = model
        self._entry = entry

    def take(self, caller: Caller, life: float, horizon: float) -> Slot:
        """Return a slot, booked if it is due within `horizon` seconds.

        `life` is how long the caller can live at most, in seconds: then its place is free again.
        Asked again for the same reservation it is the same slot.

        Raises:
            CacheUnavailable: Redis is out of reach: then nobody may call.
        """
        pace, shares, places = self._entry.pace, self._entry.shares, self._entry.in_flight
        low = caller.lane == "low"
        taken, millis, why = self._valkey.run(
            "pace_take",
            self._keys(caller),
            [
                caller.member,
                positive_millis(life),
                places,
                share_of(places, shares.low) if low else 0,
                _cost(pace.requests_per_minute),
                _cost(pace.tokens_per_minute, caller.tokens),
                _cost(pace.requests_per_minute, 1 / shares.low) if low else "0",
                round(pace.burst * 1000),
                max(0, round(horizon * 1000)),
                round(RECOVERY * 1000),
            ],
        )
        return Slot(0.0 if taken else int(millis) / 1000, str(why))

    def give_back(self, caller: Caller) -> None:
        """End a slot without a call; twice is once.

        Raises:
            CacheUnavailable: Redis is out of reach; the slot ends by itself.
        """
        self._settle(caller, "unused", 1.0, "")

    def settle(self, caller: Caller, used: int | None, outcome: Outcome) -> None:
        """End the slot of a call that was made; twice is once.

        Args:
            caller: whose slot.
            used: tokens the vendor counted; None where it did not say: then all that was reserved.
                Beyond what was reserved it costs the model a minute at most.
            outcome: how the call ended.

        Raises:
            CacheUnavailable: Redis is out of reach; the slot ends by itself.
        """
        share = 1.0 if not used or not caller.tokens else used / caller.tokens
        if self._entry.pace.tokens_counted == "reserved":
            share = max(share, 1.0)
        self._settle(
            caller,
            "failed" if outcome == "failed" else "answered",
            share,
            caller.job if outcome == "answered" else "",
        )

    def cool_down(self, caller: Caller, asked: float | None, reason: Reason) -> tuple[float, int]:
        """Pause the model because its vendor refused a call, or failed at enough of them.

        `asked` is the vendor's own wait in seconds. Told twice, it counts once. Returns the seconds
        of the pause, 0 where the breaker stays closed, and the refusals in a row.

        Raises:
            CacheUnavailable: Redis is out of reach; then nobody calls anyway.
        """
        first, longest = COOL_DOWNS[reason]
        breaker = {"failing": self._entry.breaker, "refusing": REFUSALS}.get(reason)
        left, strikes = self._valkey.run(
            "pace_cool_down",
            [
                self._key("pause"),
                self._key(f"held:{caller.reservation}"),
                self._key("outcomes"),
            ],
            [
                caller.member,
                round(min(asked or 0.0, LONGEST_PAUSE) * 1000),
                round(first * 1000),
                round(longest * 1000),
                reason,
                # An account in trouble says nothing about the rate.
                str(SLOWER) if reason == "throttled" else "1",
                str(SLOWEST),
                round(RECOVERY * 1000),
                round(KNOWN * 1000),
                caller.job,
                0 if breaker is None else breaker.failures,
                0 if breaker is None else breaker.calls,
                "0" if breaker is None else str(breaker.share),
                0 if breaker is None else round(breaker.window * 1000),
                self._kept,
            ],
        )
        return int(left) / 1000, int(strikes)

    def switch(self, *, off: bool, until: float | None, turned: bool, at: float = 0.0) -> None:
        """Make the model's switch known; `turned` if an operator did it now.

        `until` is when it turns on by itself, seconds since the epoch; None: never. `at` is when it
        was turned: what is known since is not undone.
        """
        self._valkey.run(
            "pace_switch",
            [self._key(name) for name in ("pause", "outcomes", "requests", "tokens", "low")],
            [
                int(off),
                round((until or 0) * 1000),
                int(turned),
                round(KNOWN * 1000),
                round(at * 1000),
            ],
        )

    def paused(self) -> dict[str, str]:
        """Return what is known of the model's pause, as `pace_cool_down` names it."""
        return self._valkey.get_hash(self._key("pause"))

    def _settle(self, caller: Caller, how: str, share: float, answered: str) -> None:
        window = max(self._entry.breaker.window, REFUSALS.window)
        self._valkey.run(
            "pace_settle",
            [*self._keys(caller), self._key("outcomes")],
            [
                caller.member,
                how,
                f"{share:.6f}",
                round(LONGEST_DEBT * 1000),
                answered,
                self._kept,
                round(window * 1000),
            ],
        )

    @property
    def _kept(self) -> int:
        return max(self._entry.breaker.calls, REFUSALS.calls)

    def _keys(self, caller: Caller) -> list[str]:
        names = ("pause", "calls", "requests", "tokens", "low", f"held:{caller.reservation}")
        return [self._key(name) for name in names]

    def _key(self, name: str) -> str:
        return f"tg:{{{self._model}}}:{name}"


def _cost(per_minute: int | None, units: float = 1.0) -> str:
    """Return the milliseconds of a limit that `units` use up; 0 without a limit."""
    return "0" if per_minute is None else f"{units * MINUTE * 1000 / per_minute:.6f}"
