"""What gate and quarantine promise, held against what vendor, tables and operators were seen to do.

Nobody pays twice for an answer, and none is refused or passed for want of our own data; each one
that fails leaves a record, which is decided on once.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.explorer.bounds import BAD_ANSWERS, loses
from tests.explorer.hub import Fault
from tests.explorer.memory_queue import URL
from tests.explorer.memory_vendor import ANSWERED, BAD
from tests.explorer.world import World
from tidegate.doors.actions import Item
from tidegate.flows.finish import stage_life
from tidegate.rules.job import Status

RAW = ("body", "packed", "s3_key")


@dataclass
class Gated:
    """Watches a run; `broken` says what was violated."""

    world: World
    broken: list[str] = field(default_factory=list)
    given: dict[tuple[str, str], list[tuple[str, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By job and how often it was re-opened: what calls came to, and when."""
    decided_ms: dict[str, int] = field(default_factory=dict)
    """By job: when its answer was released."""
    _touched: set[tuple[str, str]] = field(default_factory=set)
    """Records that this write has to do with."""

    def __post_init__(self) -> None:
        deployed = self.world.deployed
        deployed.vendor.told.append(self._called)
        deployed.vendor.came_to.append(self._came_to)
        deployed.store.watchers.append(self._changed)
        deployed.store.after.append(self._settled)

    def _say(self, invariant: str, what: str) -> None:
        self.broken.append(f"{invariant}: {what}")

    def _came_to(self, idempotency_key: str, what: str) -> None:
        job, replay, _ = idempotency_key.split(".")
        self.given[job, replay].append((what, self.world.hub.ms))

    def _called(self, idempotency_key: str) -> None:
        """Check that a vendor is not asked for what it has answered, unless that may be lost."""
        job, replay, _ = idempotency_key.split(".")
        at = [ms for what, ms in self.given[job, replay] if what in ANSWERED]
        item = self._items(f"job#{job}")["status"]
        lost = any(loses(fault, item["task"]) for fault in self.world.hub.taken)
        if not at or lost or self.world.deployed.redis.wipes:
            return
        life = stage_life(self.world.deployed.catalogue.models[item["model"]]) * 1000
        if item.get("newer_than", 0) <= at[-1] and self.world.hub.ms < at[-1] + life:
            self._say("a paid answer is not asked for again", job)

    def _items(self, pk: str) -> dict[str, Item]:
        return self.world.deployed.store.items("jobs", pk)

    def _changed(self, table: str, before: Item | None, after: Item | None) -> None:
        item = after or before
        if table != "jobs" or item is None:
            return
        if item["sk"] == "status" and after is not None:
            self._status(before or {}, after)
        elif "facts" in item:
            self._record(item["pk"], item["sk"], before, after)

    def _status(self, before: Item, after: Item) -> None:
        given = [what for what, _ in self.given[after["id"], str(after["replay_count"])]]
        if after["bad_answers"] > sum(what in BAD_ANSWERS for what in given):
            self._say("only a vendor's failure counts as one", after["id"])
        if after["status"] == Status.QUARANTINED != before.get("status"):
            self._touched.add((after["pk"], _record_sk(after["attempt"])))
            if not BAD & set(given):
                self._say("what is good is not quarantined", after["id"])
        if after.get("release_of") != before.get("release_of") and "release_of" in after:
            self._touched.add((after["pk"], _record_sk(after["release_of"])))

    def _record(self, pk: str, sk: str, before: Item | None, after: Item | None) -> None:
        self._touched.add((pk, sk))
        if after is None or (before is not None and before["facts"] != after["facts"]):
            self._say("a record stays as it is", f"{pk} {sk}")
            return
        if (
            before is not None
            and before["state"] != "open"
            and _decision(before) != _decision(after)
        ):
            self._say("decided once", f"{pk} {before['state']} -> {after['state']}")
        if after["state"] == "released":
            self.decided_ms.setdefault(pk.partition("#")[2], self.world.hub.ms)

    def _settled(self) -> None:
        """Look at records when a write is whole: job, record and pointer say the same."""
        for pk, sk in sorted(self._touched):
            job, record = self._items(pk)["status"], self._items(pk).get(sk)
            if record is None:
                self._say("a quarantined answer has its record", f"{pk} {sk}")
                continue
            if [pointer["state"] for pointer in self._pointers(job, sk)] != [record["state"]]:
                self._say("a record has its pointer", f"{pk} {sk}")
            if record["state"] == "released":
                as_it_says = _record_sk(job.get("release_of", 0)) == sk
            else:
                as_it_says = job["status"] == Status.QUARANTINED
                as_it_says &= _record_sk(job["attempt"]) == sk
            if not as_it_says:
                self._say("a record says what its job is", f"{record['state']}, {job['status']}")
        self._touched.clear()

    def _pointers(self, job: Item, sk: str) -> list[Item]:
        of_model = f"quarantine#{job['model']}#"
        return [
            item
            for item in self.world.deployed.store.all("jobs")
            if item["pk"].startswith(of_model)
            and (item["job_id"], _record_sk(item["attempt"])) == (job["id"], sk)
        ]

    def rested(self, faults: Sequence[Fault]) -> Iterator[str]:
        """Yield what does not hold when nothing is left to do."""
        records = [item for item in self.world.deployed.store.all("jobs") if "facts" in item]
        for record in records:
            yield from self._decided(record)
        yield from self._told()
        yield from self._heard()
        if not faults:
            yield from self._reminded(records)

    def _decided(self, record: Item) -> Iterator[str]:
        job = self._items(record["pk"])["status"]
        if record["state"] == "released" and job["status"] != Status.COMPLETED:
            yield f"what is released is delivered: {job['id']} {job['status']}"
        raw = f"quarantine/{job['id']}/{job['attempt']}.json" in self.world.deployed.bucket.objects
        raw |= any(name in record for name in RAW)
        if raw == (record["state"] == "discarded"):
            yield f"a raw answer is kept until it is discarded: {job['id']} {record['state']}"

    def _told(self) -> Iterator[str]:
        """Yield what operators were told that was not so."""
        for told in self.world.told:
            done = told.result in {"released", "discarded"}
            if done and (told.state, told.decided_by) != (told.result, told.by):
                yield f"an operator is told what is so: {told}"
            if told.result == "refused" and told.decided_by == told.by:
                yield f"an operator is told what is so: {told}"

    def _heard(self) -> Iterator[str]:
        """Yield the requests of after a release that were given the released answer."""
        first: dict[tuple[str, str], int] = {}
        for post, at in self.world.asked:
            first.setdefault((post.partner, post.key), at)
        for heard in self.world.heard:
            decided = self.decided_ms.get(heard.job or "")
            sent = first[heard.post.partner, heard.post.key]
            if decided is not None and sent > decided:
                yield f"a released answer is for who asked for it: {heard.post.key} of later"

    def _reminded(self, records: Sequence[Item]) -> Iterator[str]:
        open_ = Counter(item["pk"].partition("#")[2] for item in records if item["state"] == "open")
        queue = self.world.deployed.sqs.queues.get(f"{URL}quarantine", {})
        left = Counter(json.loads(stored.body)["job_id"] for stored in queue.values())
        if left != open_:
            yield f"the queue reminds of what is open: {dict(left)}, open {dict(open_)}"


def _record_sk(attempt: int) -> str:
    return f"quarantine#{attempt:06d}"


def _decision(record: Item) -> tuple[str, str | None]:
    return record["state"], record.get("decided_by")
