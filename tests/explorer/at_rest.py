"""What must hold when nothing is left to do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.explorer.always import Always
from tests.explorer.answers import answer_to, holds, released
from tests.explorer.bounds import BAD_ANSWERS, LATE, SWEEP, UNSEEN, Base, costs, loses
from tests.explorer.clients import Heard
from tests.explorer.hub import EPOCH, Fault
from tests.explorer.memory_queue import URL
from tests.explorer.memory_vendor import INPUT_TOKENS, OUTPUT_TOKENS
from tests.explorer.story import Scenario
from tests.explorer.world import World
from tidegate.doors.items import job_of
from tidegate.doors.pace import COOL_DOWNS, KNOWN
from tidegate.rules.job import FINAL, Job, Status, Usage
from tidegate.rules.money import charge


def resting(world: World) -> tuple[float, list[str]]:
    """Return when the last job ended, and what has not ended by itself.

    Seconds after the beginning; asked before clients that heard nothing ask once more.
    """
    items = [item for item in world.deployed.store.all("jobs") if item["sk"] == "status"]
    open_ = [item for item in items if item["status"] not in FINAL]
    stuck = [f"final: {item['id']} is {item['status']} for ever" for item in open_]
    last = max((item.get("finished_at", EPOCH) for item in items), default=EPOCH)
    return (last - EPOCH) / 1000, stuck


@dataclass
class Rest:
    """A run that has come to rest."""

    world: World
    scenario: Scenario
    always: Always
    last: float
    """Seconds after the beginning at which the last job ended."""
    calls: int
    """Of the vendor, until then."""

    def __post_init__(self) -> None:
        store = self.world.deployed.store
        self.jobs: list[Job] = [
            job_of(item) for item in store.all("jobs") if item["sk"] == "status"
        ]
        self.claims = {
            item["pk"].partition("#")[2]: item["job_id"]
            for item in store.all("jobs")
            if item["sk"] == "claim"
        }

    def broken(self, base: Base | None, faults: Sequence[Fault]) -> Iterator[str]:
        """Yield what does not hold. `base`: the run without faults, if this is not it."""
        yield from self._final(sum(LATE.get(fault.kind, 0.0) for fault in faults))
        yield from self._one_per_key()
        yield from self._money()
        yield from self._heard()
        if len(faults) == 1 and (faults[0].kind in UNSEEN or faults[0].door.startswith("redis")):
            yield from (
                f"a client hears nothing of {faults[0].kind}: {heard.status}"
                for heard in self.world.heard
                if heard.status >= 500
            )
        yield from self._queues()
        yield from self._locks()
        if base is not None:
            yield from costs(self.scenario, base, faults, self.last, self.calls)
        yield from self._ends(faults)
        if not faults:
            yield from self._without_faults()
        self.always._cache()

    def _without_faults(self) -> Iterator[str]:
        limited = sum(heard.status == 429 for heard in self.world.heard)
        if limited != self.scenario.limited:
            yield f"429 above the limit: {limited} of {self.scenario.limited}"
        if self.scenario.in_turn is not None:
            first, other = (
                max(job.finished_at or 0.0 for job in self.jobs if job.partner == partner)
                for partner in self.scenario.in_turn
            )
            if first > other:
                yield f"partners take turns: {self.scenario.in_turn[0]} came last"

    def _final(self, late: float) -> Iterator[str]:
        if self.world.late:
            yield "comes to rest: it does not"
        for job in self.jobs:
            if not job.done:
                yield f"final: {job.id} is {job.status} for ever"
            elif (job.finished_at or 0.0) > job.deadline_at + SWEEP + late:
                yield f"final by its deadline: {job.id} ended {job.status} too late"
            if job.status is Status.COMPLETED:
                holder = job.answer_of or ""
                if self.always.keys.get(holder) != job.job_key:
                    yield f"right key: {job.id} is answered by {holder}"
                if not self.world.deployed.store.items("jobs", f"job#{holder}").get("output"):
                    yield f"completed has its answer: {job.id}"

    def _one_per_key(self) -> Iterator[str]:
        claims: dict[str, list[Job]] = {}
        for job in self.jobs:
            claims.setdefault(job.idempotency_hash, []).append(job)
        for claim, jobs in claims.items():
            named = self.claims.get(claim)
            others = [job for job in jobs if job.id != named and not job.curable]
            if others:
                yield f"one job per key: {named} and {[j.id for j in others]}"

    def _money(self) -> Iterator[str]:
        entries = Counter(
            item["sk"]
            for item in self.world.deployed.store.all("ledger")
            if item["sk"] != "balance"
        )
        known = {name for name in entries if name.startswith("credit#")}
        for job in self.jobs:
            entry = self.world.deployed.catalogue.models[job.model]
            if not job.reserved:  # answered at once
                wanted = {f"{job.id}#0#settle"} if entry.price.cached and job.charged else set()
            else:
                ids = [f"{job.id}#{n}" for n in range(job.replay_count + 1)]
                wanted = {f"{name}#reserve" for name in ids}
                wanted |= {f"{name}#settle" for name in (ids if job.done else ids[:-1])}
            known |= wanted
            if not wanted <= entries.keys():
                yield f"one reserve, one settle: {sorted(wanted - entries.keys())} is missing"
            usage = Usage(INPUT_TOKENS, OUTPUT_TOKENS)
            right = charge(entry, usage, self._images(job), job.reserved)
            if job.from_cache:
                right = entry.price.cached
            elif job.status is Status.COMPLETED and job.usage.estimated != (job.task == "image"):
                yield f"an estimate is marked: {job.id} {job.usage}"
            if job.charged != (right if job.status is Status.COMPLETED else 0):
                yield f"charged what it cost: {job.id} {job.status} {job.charged}"
        if entries.keys() - known:
            yield f"one reserve, one settle: {sorted(entries.keys() - known)} is too much"
        for partner, sums in self.always.sums.items():
            charged = sum(job.charged for job in self.jobs if job.partner == partner)
            if sums["captured"] != charged or sums["reserved"]:
                yield f"captured = charged, reserved = 0: {partner} {sums}, charged {charged}"

    def _images(self, job: Job) -> int:
        """Return how many images a job's own answer has."""
        item = self.world.deployed.store.items("jobs", f"job#{job.id}").get("output")
        return 0 if item is None else len(self.world.deployed.payloads.get(item).get("images", ()))

    def _heard(self) -> Iterator[str]:
        yield from self.world.hub.broken
        last = {(h.post.partner, h.post.key): h for h in self.world.heard}
        refused = 0
        for (partner, key), heard in last.items():
            refused += heard.status == 402
            if heard.status not in {200, 202, 402} and not _image_ended(heard):
                yield f"a retry is answered: {partner} {key} heard {heard.status}"
            output = heard.body.get("output") or {}
            right = {answer_to(heard.post.input, {})}
            fits = released if heard.body.get("released") else holds
            if {"text", "data"} & output.keys() and not fits(output, right):
                yield f"right answer: {key} heard {str(output)[:60]}"
            ids = {job.id for job in self.jobs}
            if heard.status in {200, 202} and heard.job not in ids:
                yield f"accepted jobs exist: {heard.job}"
        freed = any(job.status is not Status.COMPLETED for job in self.jobs)  # and with it funds
        if refused > self.scenario.refused or (refused < self.scenario.refused and not freed):
            yield f"402 where funds do not reach: {refused} of {self.scenario.refused}"

    def _queues(self) -> Iterator[str]:
        queues = self.world.deployed.sqs.queues
        for url in sorted(self.world.deployed.sqs.redriven):
            if queues.get(url):
                yield f"queues empty: {len(queues[url])} in {url.removeprefix(URL)}"
        if self.world.deployed.sqs.dropped:
            return  # a copy that SQS itself lost is nobody's fault
        for job in self.jobs:
            if job.cache_status == "negative":
                continue  # told at once, of a failure that has its copy
            if job.status in {Status.DEAD_LETTERED, Status.FAILED}:
                url = f"{URL}{job.model}-dlq"
            elif job.status is Status.QUARANTINED and not self._discarded(job):
                url = f"{URL}quarantine"
            else:
                continue
            bodies = [json.loads(stored.body) for stored in queues.get(url, {}).values()]
            if job.id not in {body.get("job_id") for body in bodies}:
                yield f"a copy of what ended badly: none of {job.id} ({job.status})"

    def _discarded(self, job: Job) -> bool:
        items = self.world.deployed.store.items("jobs", f"job#{job.id}")
        return items.get(f"quarantine#{job.attempt:06d}", {}).get("state") == "discarded"

    def _locks(self) -> Iterator[str]:
        entry = self.world.deployed.catalogue.models["chat"]
        now = self.world.hub.ms
        for key, (_value, end) in self.world.deployed.redis.values.items():
            longest = float(entry.cache.hard_ttl)
            if key.endswith((":lease", ":calls")) or ":held:" in key:
                longest = entry.timeouts.lease
            elif key.endswith(":pause"):
                longest = KNOWN + COOL_DOWNS["account"][1]
            if end - now > longest * 1000:
                yield f"no lock without end: {key[-8:]}"

    def _ends(self, faults: Sequence[Fault]) -> Iterator[str]:
        named = set(self.claims.values())
        allowed = self.scenario.ends | (self.scenario.also if faults else set())
        kinds = {fault.kind for fault in faults}
        if "invalid" in kinds:
            allowed |= {Status.QUARANTINED}
        if self.scenario.script and BAD_ANSWERS & kinds:
            allowed |= {Status.DEAD_LETTERED}
        # By two faults a worker may die in it for all that the tables tell.
        if self.scenario.last and (len(faults) > 1 or any(loses(each, "") for each in faults)):
            allowed |= {Status.DEAD_LETTERED}
        for job in self.jobs:
            if job.id in named and job.status not in allowed:
                yield f"ends as it should: {job.id} {job.status}"
        if not self.jobs:
            yield "accepted jobs exist: there is none"


def _image_ended(heard: Heard) -> bool:
    """Return whether the images route told that the request still runs, or how it ended."""
    return heard.post.model == "image" and heard.status in {409, 502}
