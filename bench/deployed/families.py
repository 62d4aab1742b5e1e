"""Courses a request can take, each with steps of its own; those of one phase run side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from redis import Redis

from bench.deployed.killer import Step
from bench.deployed.rig import Rig, insist
from tidegate.rules.job import Status

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
)  # fmt: skip
