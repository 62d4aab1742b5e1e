"""Many identical posts in a short while, each under a key of its own, and what came of each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bench.deployed.rig import Rig, insist
from cli.demo.crowd import side_by_side
from tidegate.rules.job import Job

WIDTH = 24
"""Clients at once."""

Kind = Literal["fresh", "stale", "joined", "created", "failed", "other"]
"""How a post was answered: by a fresh or a stale answer at hand, by a job that was running, by a
job made for it, by a failure that is remembered; `other`: by none of these, which must not be."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post and its answer."""

    key: str
    status: int
    kind: Kind
    job_id: str
    tries: int
    begun: float
    """Seconds of the machine's monotonic clock, as all times here."""
    answered: float


@dataclass(slots=True)
class Burst:
    """Posts of one body, from now on or from a moment on."""

    rig: Rig
    mark: str
    """With which the keys begin."""
    body: dict[str, Any]
    size: int
    spread: float = 0.0
    """Seconds over which they are spread evenly; 0: as fast as they are answered."""
    posts: list[Post] = field(default_factory=list)
    """In the order in which they were answered; grows while it runs."""

    def run(self) -> None:
        """Post all of them, `WIDTH` at a time; return when the last is answered."""
        begun = time.monotonic()

        def post(number: int) -> None:
            self._wait_until(begun + number * self.spread / self.size)
            self.posts.append(self._post(f"{self.mark}-{number}"))

        side_by_side(post, range(self.size), WIDTH)

    def counts(self) -> Counter[Kind]:
        """Return how many posts were answered how."""
        return Counter(post.kind for post in self.posts)

    @property
    def begun(self) -> float:
        """Return when the first was sent."""
        return min(post.begun for post in self.posts)

    @property
    def ended(self) -> float:
        """Return when the last was answered."""
        return max(post.answered for post in self.posts)

    def _post(self, key: str) -> Post:
        begun = time.monotonic()
        got = insist(self.rig.stage.partner, self.body, key)
        reply, answered = got.reply, time.monotonic()
        found = reply.how not in {"refused", "broken"}
        return Post(
            key, reply.status, kind(reply.status, reply.how, reply.body),
            reply.job_id if found else "", got.tries, begun, answered,
        )  # fmt: skip

    @staticmethod
    def _wait_until(moment: float) -> None:
        time.sleep(max(0.0, moment - time.monotonic()))


def kind(status: int, how: str, shown: dict[str, Any]) -> Kind:
    """Return how a post was answered, by what any client can see of it."""
    if status not in {200, 202}:
        return "other"
    if how == "joined":
        return "joined"
    cache = shown["cache"]
    if cache["status"] == "negative":
        return "failed"
    if cache["status"] == "hit":
        return "stale" if cache["stale"] else "fresh"
    return "created" if how == "created" else "other"


def waits(posts: Sequence[Post], jobs: dict[str, Job]) -> list[float]:
    """Return for each post the seconds until its job had ended, or until it was told so.

    One whose job has not ended, or is not there, waits without end.
    """
    offset = time.time() - time.monotonic()
    found = []
    for post in posts:
        job = jobs.get(post.job_id)
        ended = None if job is None or not job.done else job.finished_at
        moment = float("inf") if ended is None else max(ended - offset, post.answered)
        found.append(moment - post.begun)
    return found


def most_calls(seconds: float, first: float) -> int:
    """Return how often work that always fails may be tried within `seconds`.

    Twice, then once whenever a life of the remembered failure has passed: `first` seconds, and
    twice as many each time.
    """
    calls, held, life = 2, first, first
    while held < seconds:
        calls, life = calls + 1, min(2 * life, 300.0)
        held += life
    return calls
