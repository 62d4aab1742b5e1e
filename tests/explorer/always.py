"""What must hold after every single write, whatever happened before it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.explorer.answers import answer_to, holds, released
from tests.explorer.world import World
from tidegate.doors.actions import Item
from tidegate.doors.envelope import opened
from tidegate.rules.job import FINAL, REPLAYABLE, Status

AMOUNTS = ("available", "reserved", "captured")
_LOOKS = {"due_at", "due_shard"}
"""When the sweeper looks next: the one thing that may change of an ended job."""


@dataclass
class Always:
    """Watches the tables of a run; `broken` says what was violated, and when first."""

    world: World
    broken: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    """By job: the one right answer to what was asked."""
    keys: dict[str, str] = field(default_factory=dict)
    """By job: its job key."""
    asked: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By job key, or key of a structure: the right answers of the jobs that have it."""
    structures: dict[str, str] = field(default_factory=dict)
    """By job: the key of its code's structure."""
    balances: dict[str, Item] = field(default_factory=dict)
    sums: dict[str, dict[str, int]] = field(default_factory=dict)
    _seen: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world.deployed.store.watchers.append(self._changed)
        self.world.deployed.store.after.append(self.settled)
        self.world.deployed.vendor.told.append(self._called)

    def _say(self, invariant: str, what: str) -> None:
        self.broken.append(f"{invariant}: {what}")

    def _changed(self, table: str, before: Item | None, after: Item | None) -> None:
        item = after or before
        if item is None:  # what was not there was removed
            return
        if table == "ledger":
            self._money(item, before, after)
        elif item["sk"] == "status":
            self._status(before, after)
        elif item["sk"] == "input" and after is not None:
            self._input(after)
        elif item["sk"] == "output":
            self._output(before, after)
        elif item["sk"] == "answer" and after is not None:
            self._answer(after)

    def settled(self) -> None:
        """Look at what spans several items: after each transaction, when it is whole."""
        for partner, balance in self.balances.items():
            sums = self.sums.get(partner, {})
            for name in AMOUNTS:
                if balance.get(name, 0) != sums.get(name, 0):
                    self._say("ledger = balance", f"{partner} {name}")
            if balance.get("entries") != sums.get("entries"):
                self._say("ledger = balance", f"{partner} entries")
        self.balances.clear()
        self._cache()

    def _called(self, idempotency_key: str) -> None:
        if any(f.kind == "stall" and f.door == "vendor.call" for f in self.world.hub.taken):
            return  # it may be that one, asleep since its time was right
        job = f"job#{idempotency_key.partition('.')[0]}"
        status = self.world.deployed.store.items("jobs", job).get("status", {})
        if status.get("retry_at", 0) > self.world.hub.ms:
            self._say("no call before its time", job)

    def _money(self, item: Item, before: Item | None, after: Item | None) -> None:
        partner = item["pk"].partition("#")[2]
        if after is None:
            self._say("ledger append-only", f"{item['sk']} was removed")
        elif item["sk"] == "balance":
            self.balances[partner] = after
            if min(after.get(name, 0) for name in AMOUNTS) < 0:
                self._say("balance >= 0", f"{partner}: {[after.get(n) for n in AMOUNTS]}")
        else:
            if before is not None:
                self._say("ledger append-only", f"{item['sk']} was written again")
            sums = self.sums.setdefault(partner, dict.fromkeys((*AMOUNTS, "entries"), 0))
            for name in AMOUNTS:
                sums[name] += after[name]
            sums["entries"] += 1

    def _alone(self, begun: Item) -> None:
        """Check that a job that begins is a partner's only one at its work, and in time."""
        for item in self.world.deployed.store.all("jobs"):
            if item["sk"] != "status" or item["id"] == begun["id"] or item["status"] in FINAL:
                continue
            if "release_of" in item or "release_of" in begun:
                continue  # it has its answer, and calls nobody
            same = (item["job_key"], item["partner"]) == (begun["job_key"], begun["partner"])
            if same and item["deadline_at"] > self.world.hub.ms:
                self._say("one job per work", f"{item['id']} and {begun['id']}")

    def _status(self, before: Item | None, after: Item | None) -> None:
        begins = before is None or before["status"] in FINAL
        if begins and after is not None and after["status"] not in FINAL:
            self._alone(after)
        if after is None or before is None:
            if before is not None:
                self._say("final stays", f"{before['id']} was removed")
            elif after is not None:
                self.keys[after["id"]] = after["job_key"]
            return
        if before["status"] not in FINAL:
            return
        changed = {n for n in {*before, *after} if before.get(n) != after.get(n)} - _LOOKS
        if not changed:
            return
        if not _reopened(before, after):
            self._say("final stays", f"{before['status']} -> {after['status']}: {sorted(changed)}")

    def _input(self, item: Item) -> None:
        job_id = item["pk"].partition("#")[2]
        asked = self.world.deployed.payloads.get(item)
        right = answer_to(asked["input"], asked["params"])
        self.inputs[job_id] = right
        self.asked[self.keys.get(job_id, "")].add(right)
        if "structure" in asked:
            self.structures[job_id] = asked["structure"]["key"]
            self.asked[self.structures[job_id]].add(right)

    def _output(self, before: Item | None, after: Item | None) -> None:
        value = self.world.deployed.payloads.get
        if after is None or (before is not None and value(before) != value(after)):
            self._say("output written once", str((before or {})["pk"]))
            return
        job_id, output = after["pk"].partition("#")[2], value(after)
        if job_id not in self.inputs:  # another's answer in its own names: as one of them asked
            rights = {answer_to(post.input, {}) for post, _ in self.world.asked}
            self.inputs[job_id] = output["text"] if output["text"] in rights else ""
            self.asked[self.keys[job_id]].add(self.inputs[job_id])
        right = {self.inputs[job_id]}
        job = self.world.deployed.store.items("jobs", after["pk"])["status"]
        holds_it = released(output, right) if "release_of" in job else holds(output, right, True)
        if not holds_it:
            self._say("right answer", f"{job_id} holds {str(output)[:80]}")

    def _answer(self, item: Item) -> None:
        self._held("answer", item["job_id"], item["pk"].partition("#")[2])
        if item["soft_until"] > item["hard_until"]:
            self._say("soft before hard", item["pk"])

    def _held(self, where: str, job_id: str, key: str) -> None:
        """Check that a job may hold the answer under a key: completed, reusable, of that work."""
        if key not in {self.keys.get(job_id), self.structures.get(job_id)}:
            self._say("right key", f"{where}: {job_id} under {key[:8]}")
        item = self.world.deployed.store.items("jobs", f"job#{job_id}").get("status", {})
        if item.get("status") != Status.COMPLETED:
            self._say("only what is completed", f"{where}: {job_id} is {item.get('status')}")
        if "release_of" in item:
            self._say("only what passed the gate", f"{where}: {job_id} was released")
        if not item.get("reusable"):
            self._say("only what may be kept", f"{where}: {job_id}")

    def _cache(self) -> None:
        for key, (value, _end) in list(self.world.deployed.redis.values.items()):
            if not key.endswith("}:result") or self._seen.get(key) is value:
                continue
            self._seen[key] = value
            job_key = key.partition("{")[2].partition("}")[0]
            result = opened(job_key, value)
            if value in self.world.damaged:
                continue
            if result is None:
                self._say("cache valid", f"{key} is not whole")
                continue
            self._held("cache", result.job_id, job_key)
            if result.soft_until > result.hard_until:
                self._say("soft before hard", key)
            if not holds(result.output, self.asked[job_key]):
                self._say("cache valid", f"{job_key[:8]} holds {str(result.output)[:80]}")


def _reopened(before: Item, after: Item) -> bool:
    """Return whether an ended job was taken back as it may: replayed, or its answer released."""
    again = after["status"] == Status.QUEUED
    again &= after["replay_count"] == before["replay_count"] + 1
    if before["status"] == Status.QUARANTINED:
        whole = after.get("release_of") == before["attempt"]
        return again and whole and not after["reusable"]
    return again and before["status"] in REPLAYABLE and "release_of" not in after
