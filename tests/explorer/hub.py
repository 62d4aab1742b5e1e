"""Runs handlers as greenlets in virtual time, and asks at every door call what is to happen.

Everything between two door calls is the shipped code and takes no time; a door call takes 5 ms.
Each call is a choice point: option 0 goes on, the others are faults or letting somebody else go
first. A plan names the choice points that do not go on, so it is a run.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
from botocore.exceptions import BotoCoreError, ClientError
from greenlet import getcurrent, greenlet

EPOCH = 1_900_000_000_000
"""Milliseconds since 1970 at which every run begins."""

CALL_MS = 5
STALL_MS = 100_000
"""Past any lease and any visibility timeout of the test catalogue."""

TOO_MANY = 20_000
"""Choice points of a run that goes nowhere."""

Plan = Mapping[int, int]


class Fault(NamedTuple):
    """A fault that happened."""

    kind: str
    actor: str
    """Which function it happened to, or `-`."""
    door: str


class Killed(BaseException):
    """The process of an actor is gone: not even `finally` does anything at a door."""


class Livelock(RuntimeError):
    """A run came to no end."""


class Actor:
    """One invocation of a handler."""

    def __init__(self, name: str, body: Callable[[], Any], ended: Callable[[Any], None]) -> None:
        self.name = name
        self.body = body
        self.ended = ended
        self.dead = False
        self.greenlet: greenlet | None = None


class Hub:
    """Time, who may run, and the choices of one run."""

    def __init__(self) -> None:
        self.current: Actor | None = None
        self._parked: set[Actor] = set()
        self._points = 0
        self.choices: list[tuple[str, ...]] = []
        self.reset({})

    def reset(self, plan: Plan) -> None:
        """Begin a run; what is left of the one before dies."""
        self.main = getcurrent()
        for left in list(self._parked):
            left.dead = True
            self._resume(left)
        self.plan = plan
        self.ms = EPOCH
        self.choices = []
        self.log: list[tuple[int, str, str, str]] = []
        """Of each choice point: time, actor, door, what was chosen."""
        self.taken: list[Fault] = []
        """The faults that did happen."""
        self.broken: list[str] = []
        """What actors raised that no handler may raise."""
        self.ready: deque[Actor] = deque()
        self.current = None
        self.faultless = False
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0
        self._points = 0

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self.ms / 1000

    def at(self, ms: int, event: Callable[[], None]) -> None:
        """Let something happen at a time."""
        self._order += 1
        heapq.heappush(self._events, (ms, self._order, event))

    def spawn(self, name: str, body: Callable[[], Any], ended: Callable[[Any], None]) -> Actor:
        """Let an invocation begin as soon as its turn comes; `ended` gets its result or None."""
        actor = Actor(name, body, ended)
        self.ready.append(actor)
        return actor

    def run(self, moment_after: Callable[[int | None], int | None]) -> None:
        """Run until nothing is left to do.

        When nobody can run, `moment_after` is told when the next event is (None: there is none)
        and returns the time to go to, or None to stop.
        """
        while True:
            self._happen()
            if self.ready:
                self._resume(self.ready.popleft())
                continue
            moment = moment_after(self._events[0][0] if self._events else None)
            if moment is None:
                return
            self.ms = max(self.ms, moment)

    def choose(self, door: str, faults: tuple[str, ...]) -> str:
        """Return the fault that happens at a door call of the current actor, or ''.

        Raises:
            Killed: its process dies here.
        """
        actor = self.current
        if actor is None:  # not part of the run: what a test prepares or looks at
            return ""
        if actor.dead:
            raise Killed
        self.ms += CALL_MS
        self._happen()
        if self.faultless:
            return ""
        fault = self.ask(door, (*faults, "preempt") if self.ready else faults)
        if fault == "crash":
            self.die()
        if fault == "preempt":
            self.ready.append(actor)
            self._park(actor)
            return ""
        if fault == "stall":
            self.sleep(STALL_MS)
            return ""
        return fault

    def ask(self, door: str, options: tuple[str, ...]) -> str:
        """Return what the plan says to a choice that is not an actor's, or ''."""
        if self.faultless:
            return ""
        index = len(self.choices)
        self.choices.append(options)
        pick = self.plan.get(index, 0)
        chosen = options[pick - 1] if 0 < pick <= len(options) else ""
        actor = self.current.name if self.current else "-"
        if chosen:
            self.taken.append(Fault(chosen, actor.partition(" ")[0], door))
        self.log.append((self.ms, actor, door, chosen))
        return chosen

    def die(self) -> None:
        """Let the current actor's process die.

        Raises:
            Killed: always.
        """
        assert self.current is not None
        self.current.dead = True
        raise Killed

    def sleep(self, ms: int) -> None:
        """Let the current actor wait."""
        actor = self.current
        assert actor is not None
        if actor.dead:
            raise Killed
        self.at(self.ms + ms, lambda: self.ready.append(actor))
        self._park(actor)

    def _happen(self) -> None:
        while self._events and self._events[0][0] <= self.ms:
            heapq.heappop(self._events)[2]()

    def _park(self, actor: Actor) -> None:
        # Powertools keeps the event of the request at hand in its class: one process, one request.
        event = BaseRouter.__dict__.get("current_event")
        self._parked.add(actor)
        self.main.switch()
        self._parked.discard(actor)
        if event is not None:
            BaseRouter.current_event = event
        if actor.dead:
            raise Killed

    def _resume(self, actor: Actor) -> None:
        self._points += 1
        if self._points > TOO_MANY or len(self.choices) > TOO_MANY:
            raise Livelock("the run comes to no end")
        self.current = actor
        if actor.greenlet is None:
            actor.greenlet = greenlet(lambda: self._live(actor), self.main)
        actor.greenlet.switch()
        self.current = None

    def _live(self, actor: Actor) -> None:
        result = None
        try:
            result = actor.body()
        except Killed:
            pass
        except (ClientError, BotoCoreError):
            actor.dead = True  # a function that fails is invoked again
        except Exception as error:  # noqa: BLE001 - whatever else a handler lets out is a finding
            self.broken.append(f"{actor.name} raised {type(error).__name__}: {error}")
            actor.dead = True
        actor.ended(None if actor.dead else result)
