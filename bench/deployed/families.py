"""Courses a request can take, each with steps of its own; those of one phase run side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from redis import Redis

from bench.deployed.killer import Step
from bench.deployed.rig import Rig, insist
from cli.local.redis import clustered
from tidegate.clock import SystemClock
from tidegate.doors.cache import Cache, Negative
from tidegate.doors.envelope import sealed
from tidegate.doors.valkey import connect
from tidegate.errors import Retry
from tidegate.rules.job import JobError, Status
from tidegate.settings import RedisSettings

LeadIn = Callable[[Rig, dict[str, Any], str], Mapping[str, str]]
"""Brings about what a course begins with; returns the job ids of what it posted, by key."""

BLOCK = 8.0
"""Seconds for which a model's places are taken away, so that its workers put jobs off."""

WAIT = 90.0


@dataclass(frozen=True, slots=True)
class Family:
    """One course: who takes the steps, on what model, and how such jobs may end."""

    name: str
    role: str
    model: str
    phase: int = 1
    ends: frozenset[Status] = frozenset({Status.COMPLETED})
    vendor: Mapping[str, Any] = field(default_factory=dict)
    """What the vendor does each time it is asked for the model, if not answer."""
    lead_in: LeadIn | None = None
    only: tuple[str, ...] = ()
    """Names of the steps that are this course's own; none is all."""
    at_once: int = 8
    """Jobs of it that are not final yet, at most: else recovery is time in a queue behind others
    that were killed, whose successors take a second each to start."""

    def prepare(self, rig: Rig) -> None:
        """Tell the vendor what to do."""
        if self.vendor:
            rig.stage.vendor.script(self.model, {**self.vendor, "times": None})

    def means(self, step: Step) -> bool:
        """Return whether a step is to be tried in this course."""
        return step.role == self.role and (not self.only or step.name in self.only)


def _answered(rig: Rig, body: dict[str, Any], mark: str) -> Mapping[str, str]:
    """Let the same work be done before."""
    key = f"{mark}-first"
    job_id = insist(rig.stage.partner, body, key).reply.job_id
    rig.until_done(job_id, WAIT)
    return {key: job_id}


def _running(rig: Rig, body: dict[str, Any], mark: str) -> Mapping[str, str]:
    """Let the same work be under way."""
    _blocked(rig, body, mark)
    key = f"{mark}-first"
    return {key: insist(rig.stage.partner, body, key).reply.job_id}


def _blocked(rig: Rig, body: dict[str, Any], _mark: str) -> Mapping[str, str]:
    """Take all of the model's places for a while."""
    model, end = body["model"], time.time() + BLOCK
    with Redis.from_url(rig.info.redis_url) as redis:
        places = rig.stage.models[model].in_flight
        name = f"tg:{{{model}}}:calls"
        redis.zadd(name, {f"bench-{n}": round(end * 1000) for n in range(places)})
        redis.pexpire(name, 60_000)
    return {}


def _stale(rig: Rig, body: dict[str, Any], mark: str) -> Mapping[str, str]:
    """Let the same work's answer be over its soft life."""
    first = _answered(rig, body, mark)
    job_key = _job_key(rig, body, mark)
    with _cache(rig) as cache, Redis.from_url(rig.info.redis_url) as redis:
        answer = cache.look(job_key, time.time()).result
        if answer is not None:  # else it is a miss, and the kill does not happen
            aged = sealed(job_key, replace(answer, soft_until=time.time() - 1))
            redis.set(f"tg:{{{job_key}}}:result", aged, keepttl=True)
    return first


def _just_failed(rig: Rig, body: dict[str, Any], mark: str) -> Mapping[str, str]:
    """Let the same work have failed for good, twice, a moment ago."""
    why = JobError(Retry.PERMANENT, "vendor_refused", "by the bench", "vendor", 400)
    now = time.time()
    with _cache(rig) as cache:
        cache.refuse(_job_key(rig, body, mark), Negative(why, now, now + WAIT, 2), now)
    return {}


def _epochs_forgotten(rig: Rig, body: dict[str, Any], _mark: str) -> Mapping[str, str]:
    """Let the copy of an epoch be gone from Redis."""
    with Redis.from_url(rig.info.redis_url) as redis:
        redis.delete(f"tg:{{epochs}}:both:{body['model']}/{rig.info.partners[0].id}")
    return {}


def _job_key(rig: Rig, body: dict[str, Any], mark: str) -> str:
    return rig.job_key(rig.info.partners[0].id, mark, body)


@contextmanager
def _cache(rig: Rig) -> Iterator[Cache]:
    settings = RedisSettings(clustered(rig.info.redis_url), None, None, rig.info.region)
    valkey = connect(settings, SystemClock())
    try:
        yield Cache(valkey)
    finally:
        valkey.close()


FAMILIES = (
    Family("answer", "worker", "chat-mini"),
    Family("image", "worker", "image-studio"),
    Family(
        "no answer", "worker", "code-command",
        ends=frozenset({Status.DEAD_LETTERED}), vendor={"type": "fail", "status": 500},
    ),
    Family(
        "refused", "worker", "chat-claude",
        ends=frozenset({Status.FAILED}), vendor={"type": "fail", "status": 400},
    ),
    Family(
        "contract broken", "worker", "risk-report",
        ends=frozenset({Status.QUARANTINED}), vendor={"type": "reply", "text": '{"account_id": 0}'},
    ),
    Family("accept", "api", "chat-mini", phase=2),
    Family("answer at hand", "api", "risk-report", phase=2, lead_in=_answered),
    Family("joined", "api", "code-command", phase=2, lead_in=_running),
    Family(
        "put off", "worker", "chat-claude", phase=2, lead_in=_blocked, only=("SQS SendMessage",)
    ),
    # An image costs what was set aside for it: nothing is left on the operator's account, and each
    # refresh has to fill it first. One at a time, or one fills it for another.
    Family("stale at hand", "api", "image-studio", phase=3, lead_in=_stale, at_once=1),
    Family(
        "just failed", "api", "risk-report", phase=3, lead_in=_just_failed,
        ends=frozenset({Status.FAILED}),
    ),
    Family(
        "epochs forgotten", "api", "chat-claude", phase=3, lead_in=_epochs_forgotten,
        only=("DynamoDB GetItem epoch", "Redis epochs_raise"), at_once=1,
    ),
)  # fmt: skip
