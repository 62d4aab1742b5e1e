"""What a fault may cost: seconds, and calls of the vendor. Alone it may cost less than with others.

Seconds are those of the test catalogue: visibility 54, lease 19, a sweep every 60 (45 after
acceptance at the earliest), 29 until a client gives up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.explorer.hub import Fault
from tests.explorer.story import Scenario

SWEEP = 65.0
"""Seconds between the moment a job is due and the sweeper's having been there."""

DELAY = {
    "preempt": 2.0, "twice": 2.0, "doubled": 20.0, "unheard": 5.0, "unacknowledged": 1.0,
    "invalid": 2.0, "429": 8.0, "500": 6.0, "timeout": 6.0, "account": 72.0, "wiped": 12.0,
    "error": 125.0, "lost": 125.0, "crash": 125.0, "dropped": 125.0, "stall": 170.0, "stale": 61.0,
}  # fmt: skip
"""Seconds by which one fault may put off the end of a run at most."""

UNREFERRED = 20.0
"""Seconds by which a failed look into a reference set puts off the end: it is put off itself."""

BAD_ANSWERS = frozenset({"429", "500", "timeout"})
"""Of a vendor: several in a row dead-letter a job."""

LATE = {"stall": 100.0, "crash": 60.0, "error": 60.0, "lost": 60.0, "stale": 60.0, "dropped": 5.0}
"""Seconds by which one fault may put off an end that was due: a sweep that fails, a sleep."""

MORE_CALLS = {
    "crash", "error", "lost", "stall", "429", "500", "timeout", "account", "wiped", "invalid",
}  # fmt: skip
"""Faults that may cost one vendor call more, where they are not alone."""

NO_ANSWER = frozenset({"429", "500", "timeout", "account", "invalid"})
REOPENED = 5
"""Calls of a job that is opened again: all its starts."""

UNSTAGED = ("vendor.call", "redis.pace_settle", "redis.set")
"""Doors at which a worker's death loses an answer: from the call to its being staged."""

UNSEEN = frozenset({"preempt", "twice", "doubled", "dropped", "wiped", "stale"})
"""Faults of which a client hears nothing; of Redis's, none at all."""

SLACK = 2.0
"""Seconds in which a run without faults may differ."""

INSISTING = {"crash": 4.0, "error": 4.0, "lost": 4.0, "unheard": 4.0, "stall": 32.0}
"""Seconds by which a fault at the API puts off the end where its client asks again."""


@dataclass(frozen=True)
class Base:
    """A scenario's run without faults."""

    last: float
    calls: int


def costs(
    scenario: Scenario, base: Base, faults: Sequence[Fault], last: float, calls: int
) -> Iterator[str]:
    """Yield what a run cost beyond what its faults may."""
    allowed = base.calls + sum(_may_call(scenario, fault, len(faults) == 1) for fault in faults)
    if calls > allowed:
        yield f"vendor calls bounded: {calls}, allowed {allowed}"
    bound = base.last + sum(_delay(scenario, fault) for fault in faults)
    refused = sum(fault.kind == "account" for fault in faults)
    for before in range(1, refused + scenario.script.count("account")):
        bound += DELAY["account"] * (2**before - 1)  # each one in a row doubles the pause
    bound += scenario.patience if faults else SLACK
    if last > bound:
        yield f"recovery bounded: {last:.1f} s, allowed {bound:.1f} s"


def _may_call(scenario: Scenario, fault: Fault, alone: bool) -> int:
    """Return how many calls a fault may cost."""
    if fault.kind == "stall" and fault.door.startswith("sqs.send"):
        # A send that hangs so long looks like a move by hand: its ended job is opened again.
        return REOPENED
    if fault.kind in scenario.extra:
        return 1
    if not alone or fault.door == "s3.put":  # an image is staged when the bucket has it
        return fault.kind in MORE_CALLS
    if fault.kind in {"wiped", "lost"}:
        return 0
    if scenario.script or scenario.shared or scenario.steps:
        return fault.kind in MORE_CALLS
    if fault.kind in {"crash", "stall"} and fault.actor == "worker":
        return fault.door.startswith(UNSTAGED)
    return fault.kind in NO_ANSWER


def _delay(scenario: Scenario, fault: Fault) -> float:
    if fault.door.startswith("references"):
        return UNREFERRED
    insisting = fault.actor == "api" and all(post.tries > 1 for post in scenario.posts)
    return INSISTING.get(fault.kind, DELAY[fault.kind]) if insisting else DELAY[fault.kind]


def loses(fault: Fault, task: str) -> bool:
    """Return whether a fault may lose what a vendor has answered to a job of a task."""
    doors = (*UNSTAGED, "s3.put") if task == "image" else UNSTAGED
    return fault.kind in {"wiped", "stall"} or fault.door.startswith(doors)
