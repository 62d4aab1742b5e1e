"""What the pace promises, held against what scripts, vendor and operator were seen to do.

Looked at where a slot is granted: between a grant and its call a worker may fall asleep, and what
it then does is no fault of the pace.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

from tests.explorer.memory_queue import URL
from tests.explorer.world import World
from tidegate.rules.job import Status, queue_name
from tidegate.rules.pacing import share_of

QUIET = frozenset(
    {"preempt", "twice", "doubled", "unheard", "unacknowledged", "stale",
     "429", "500", "timeout", "account", "invalid"}
)  # fmt: skip
"""Faults after which no process and no Redis is lost: promises hold to the letter."""

AT_ONCE_MS = 250
"""From a vendor's refusal to its pause, others may still begin."""

LATE_MS = 700
"""By which a worker may use a slot later than it is due, where nothing is lost."""

ASKED_MS = {"429": 4_000, "account": 60_000}
"""How long nobody may call after a vendor's refusal."""

STOPPED = frozenset({"paused", "account", "failing", "refusing", "probing", "switched_off"})
"""Answers of `pace_take` that end what was booked."""


@dataclass
class Model:
    """What is known of one model's pace."""

    pauses: list[tuple[int, int]] = field(default_factory=list)
    """Each from when till when, as Redis was told."""
    refused: list[tuple[int, int]] = field(default_factory=list)
    """The same, as the vendor asked for it."""
    cooling: int | None = None
    """Since when the vendor has not answered again."""
    probe: str | None = None
    granted: dict[str, int] = field(default_factory=dict)
    """By member: when it was last allowed to call."""
    open: dict[str, int] = field(default_factory=dict)
    """By member: until when it has a place or a booking."""
    calls: dict[str, str] = field(default_factory=dict)
    """Calls at the vendor, by idempotency key: their lane."""
    begun: list[int] = field(default_factory=list)
    """Grants of the calls that reached the vendor."""


class Paced:
    """Watches a run; `broken` says what was violated."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.broken: list[str] = []
        self.models = {name: Model() for name in world.deployed.catalogue.models}
        self.made: Counter[str] = Counter()
        """Vendor calls by job, those left out for which the vendor was paused."""
        self.put_back: set[str] = set()
        """Reservations of calls that failed while the breaker was open."""
        self._wipes = 0
        self._died = False
        deployed = world.deployed
        deployed.scripts.append(self._ran)
        deployed.vendor.told.append(self._called)
        deployed.vendor.came_to.append(self._came_to)
        deployed.sqs.taken = self._sent

    def _say(self, invariant: str, what: str) -> None:
        self.broken.append(f"{invariant}: {what}")

    @property
    def _kinds(self) -> set[str]:
        return {fault.kind for fault in self.world.hub.taken}

    @property
    def quiet(self) -> bool:
        """Return whether nothing was lost or killed so far."""
        return self._kinds <= QUIET and not self._died

    def _ran(self, script: str, keys: list[str], args: list[Any], answer: Any) -> None:
        redis = self.world.deployed.redis
        for key, (_value, end) in redis.values.items():
            if end == inf:
                self._say("no key without end", key)
        model = self.models.get(keys[0].partition("{")[2].partition("}")[0])
        if model is None:
            return
        self._forget_what_redis_lost()
        match script:
            case "pace_take":
                self._taken(keys[0], model, args[0], int(args[1]), answer)
            case "pace_cool_down" if answer[0]:
                self._cooled(model, args[0], max(int(args[1]), int(args[2])))
                self._failed(args[0], args[4], args[9])
            case "pace_settle":
                self._settled(model, args[0], args[1])
            case "pace_switch" if args[2] == 1 and args[0] == 0:
                model.pauses, model.refused, model.cooling, model.probe = [], [], None, None

    def _forget_what_redis_lost(self) -> None:
        redis = self.world.deployed.redis
        if redis.wipes != self._wipes:
            self._wipes = redis.wipes
            for each in self.models.values():
                each.pauses, each.cooling, each.probe, each.open = [], None, None, {}
                each.begun.clear()

    def _failed(self, member: str, reason: str, job: str) -> None:
        """Leave out a call that failed while the breaker was open: its job is put back."""
        if reason == "failing" and member not in self.put_back:
            self.put_back.add(member)
            self.made[job] -= 1

    def _taken(self, key: str, model: Model, member: str, life: int, answer: list[Any]) -> None:
        now, why = self.world.hub.ms, answer[2]
        if why in STOPPED:
            model.open.pop(member, None)
        if why in {"booked", "granted"}:
            model.open[member] = now + life
        if why != "granted":
            return
        pauses = model.pauses + (model.refused if self.quiet else [])
        if any(begin < now < end for begin, end in pauses):
            self._say("no call in a pause", member)
        off_from, off_until = self.world.off.get(key.split("{")[1].split("}")[0], (inf, inf))
        if off_from < now < off_until:
            self._say("no call while switched off", member)
        if model.cooling is not None and model.granted.get(member, -1) <= model.cooling:
            probing = model.probe is not None and model.open.get(model.probe, 0) > now
            if probing and model.probe != member:
                self._say("one probe at a time", f"{model.probe}, {member}")
            model.probe = member
        model.granted[member] = now

    def _cooled(self, model: Model, member: str, millis: int) -> None:
        now = self.world.hub.ms
        model.pauses.append((now, now + millis))
        if model.cooling is None or model.granted.get(member, 0) > model.cooling:
            model.cooling = now
        if model.probe == member:
            model.probe = None

    def _settled(self, model: Model, member: str, outcome: str) -> None:
        now = self.world.hub.ms
        if model.probe == member:
            model.probe = None
        if model.open.pop(member, None) is None or model.cooling is None or outcome != "answered":
            return
        after = model.granted.get(member, 0) > model.cooling
        if after and all(end <= now for _, end in model.pauses):
            model.cooling = None

    def _job(self, idempotency_key: str) -> dict[str, Any]:
        name = idempotency_key.partition(".")[0]
        item: dict[str, Any] = self.world.deployed.store.items("jobs", f"job#{name}")["status"]
        return item

    def _called(self, key: str) -> None:
        job = self._job(key)
        name, lane, kinds = job["model"], job["priority"], self._kinds
        model, entry = self.models[name], self.world.deployed.catalogue.models[name]
        self.made[job["id"]] += 1
        model.calls[key] = lane
        if "stall" in kinds:
            return  # it may be that one, asleep since it had its slot
        grant = model.granted.get(f"{lane}/{job['partner']}/{job.get('owner')}")
        if grant is None:
            if job["status"] == "processing":  # else it was cancelled since
                self._say("no call without a slot", job["id"])
            return
        if "wiped" in kinds:
            return  # what was in flight is forgotten with everything else
        if len(model.calls) > entry.in_flight:
            self._say("calls in flight", f"{len(model.calls)} of {name}")
        low = sum(each == "low" for each in model.calls.values())
        if low > share_of(entry.in_flight, entry.shares.low):
            self._say("calls in flight", f"{low} of lane low")
        if entry.pace.requests_per_minute is not None:
            late = LATE_MS if self.quiet else round(entry.pace.horizon * 1000)
            model.begun = sorted([*model.begun, grant])
            self._spaced(model.begun, 60_000 / entry.pace.requests_per_minute,
                         entry.pace.burst * 1000, late)  # fmt: skip

    def _spaced(self, begun: list[int], cost: float, burst: float, late: int) -> None:
        for i, first in enumerate(begun):
            for n, other in enumerate(begun[i + 1 :], 1):
                if n * cost > other - first + max(burst - cost, 0) + late:
                    self._say("requests within the limit", f"{n + 1} in {other - first} ms")
                    return

    def _came_to(self, key: str, what: str) -> None:
        job, now = self._job(key), self.world.hub.ms
        model = self.models[job["model"]]
        model.calls.pop(key, None)
        self._died |= what == "crash"
        if what in {"account", "429"}:
            self.made[job["id"]] -= 1
        if what in ASKED_MS:
            model.refused.append((now + AT_ONCE_MS, now + ASKED_MS[what]))

    def _sent(self, url: str, body: str) -> None:
        if not url.endswith(("-dlq", "quarantine")):
            job = self._job(json.loads(body)["job_id"])
            queue = queue_name(job["model"], job["priority"])
            if url != URL + queue:
                self._say("right queue", f"{job['id']} of {queue} in {url}")

    def rested(self) -> Iterator[str]:
        """Yield what does not hold when nothing is left to do."""
        if not self.quiet:
            return
        for name, model in self.models.items():
            for member in model.open:
                yield f"a slot is given back: {member} of {name}"
        for key, (value, _end) in self.world.deployed.redis.values.items():
            if key.startswith("tg:{") and "}:line" in key:
                yield f"nobody waits in vain: {', '.join(value)} in {key}"
        for item in self.world.deployed.store.all("jobs"):
            if item["sk"] == "status" and not item["replay_count"]:
                starts, made = item["starts"], self.made[item["id"]]
                if starts != made and item["status"] != Status.CANCELLED:  # nobody put it back then
                    yield f"starts are calls: {item['id']} has {starts}, made {made}"
