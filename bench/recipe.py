"""What many have instead of Tidegate: the usual recipe with Celery and Redis, in a few lines.

One list, first come, first served; a 429 sets a block key for 30 s; who is refused, or finds the
block key, tries again after 5, 10, 20, 40 and 80 s (`self.retry(countdown=..., max_retries=5)`),
and after the fifth retry the job has failed. As in Celery, what waited for its countdown is taken
before what is still in the list.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from redis import Redis

from cli.local.redis import single

BLOCK = 30
"""Seconds."""
FIRST_RETRY = 5.0
RETRIES = 5
KEY = "key-of-the-recipe"
"""The API key it shows: the vendor's quotas are per key."""

READY, LATER, BLOCKED = "ready", "later", "blocked"


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a job. Times are seconds of the machine's monotonic clock."""

    posted: float
    started: float | None
    """When its first call was made."""
    ended: float
    done: bool


@dataclass(slots=True)
class Recipe:
    """A queue in Redis and threads that work on it."""

    redis: Redis
    vendor_url: str
    ended: dict[str, Ended] = field(default_factory=dict)
    """By job."""
    _started: dict[str, float] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    def post(self, job: str, body: dict[str, Any]) -> int:
        """Queue a job that makes this call; return how many were before it."""
        task = {"job": job, "body": body, "retries": 0, "posted": time.monotonic()}
        return int(self.redis.rpush(READY, json.dumps(task))) - 1

    def await_all(self, jobs: int, patience: float) -> bool:
        """Return whether so many jobs ended within `patience` seconds."""
        until = time.monotonic() + patience
        while len(self.ended) < jobs and time.monotonic() < until:
            time.sleep(0.2)
        return len(self.ended) >= jobs

    def started(self) -> dict[str, float]:
        """Return when the first call of each job was made, of those that were called for."""
        return dict(self._started)

    def work(self) -> None:
        """Work on jobs, one after the other, until told to stop."""
        with httpx.Client(timeout=30, trust_env=False) as vendor:
            while not self._stop.is_set():
                task = self._next()
                if task is not None:
                    self._run(task, vendor)

    def stop(self) -> None:
        """Let every worker end after its job."""
        self._stop.set()

    def _next(self) -> dict[str, Any] | None:
        for due in self.redis.zrangebyscore(LATER, 0, time.time(), start=0, num=8):
            if self.redis.zrem(LATER, str(due)):  # else another worker took it
                return dict(json.loads(str(due)))
        taken = self.redis.lpop(READY)
        if taken is None:
            time.sleep(0.02)
            return None
        return dict(json.loads(str(taken)))

    def _run(self, task: dict[str, Any], vendor: httpx.Client) -> None:
        if self.redis.exists(BLOCKED):
            self._retry(task)
            return
        self._started.setdefault(task["job"], time.monotonic())
        status = vendor.post(
            f"{self.vendor_url}/v1/chat/completions",
            content=json.dumps(task["body"]).encode(),
            headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
        ).status_code
        if status == httpx.codes.OK:
            self._end(task, done=True)
            return
        if status == httpx.codes.TOO_MANY_REQUESTS:
            self.redis.set(BLOCKED, "1", ex=BLOCK)
        self._retry(task)

    def _retry(self, task: dict[str, Any]) -> None:
        if task["retries"] == RETRIES:
            self._end(task, done=False)
            return
        due = time.time() + FIRST_RETRY * 2 ** task["retries"]
        self.redis.zadd(LATER, {json.dumps(task | {"retries": task["retries"] + 1}): due})

    def _end(self, task: dict[str, Any], *, done: bool) -> None:
        started = self._started.get(task["job"])
        self.ended[task["job"]] = Ended(task["posted"], started, time.monotonic(), done)


@contextmanager
def running_recipe(folder: Path, vendor_url: str, workers: int) -> Iterator[Recipe]:
    """Run the recipe on a Redis of its own with so many workers."""
    with single(folder) as url, Redis.from_url(url, decode_responses=True) as redis:
        recipe = Recipe(redis, vendor_url)
        threads = [threading.Thread(target=recipe.work, daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            yield recipe
        finally:
            recipe.stop()
            for thread in threads:
                thread.join()
