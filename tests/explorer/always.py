"""What must hold after every single write, whatever happened before it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.explorer.memory_vendor import answer_to, holds
from tests.explorer.world import World
from tidegate.doors.actions import Item
from tidegate.doors.cache import Cache
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
    """By job key: the right answers of the jobs that have it."""
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
        reopened = (
            before["status"] in REPLAYABLE
            and after["status"] == Status.QUEUED
            and after["replay_count"] == before["replay_count"] + 1
        )
        if not reopened:
            self._say("final stays", f"{before['status']} -> {after['status']}: {sorted(changed)}")

    def _input(self, item: Item) -> None:
        job_id = item["pk"].partition("#")[2]
        asked = json.loads(item["body"])
        right = answer_to(asked["input"], asked["params"])
        self.inputs[job_id] = right
        self.asked[self.keys.get(job_id, "")].add(right)

    def _output(self, before: Item | None, after: Item | None) -> None:
        if after is None or (before is not None and before["body"] != after["body"]):
            self._say("output written once", str((before or {})["pk"]))
            return
        self._right(after["pk"].partition("#")[2], json.loads(after["body"]))

    def _right(self, job_id: str, output: dict[str, Any]) -> None:
        if not holds(output, {self.inputs.get(job_id, "")}):
            self._say("right answer", f"{job_id} holds {str(output)[:80]}")

    def _answer(self, item: Item) -> None:
        if self.keys.get(item["job_id"]) != item["pk"].partition("#")[2]:
            self._say("right key", f"{item['job_id']} answers {item['pk']}")

    def _cache(self) -> None:
        for key, (value, _end) in list(self.world.deployed.redis.values.items()):
            if not key.endswith("}:result") or self._seen.get(key) is value:
                continue
            self._seen[key] = value
            job_key = key.partition("{")[2].partition("}")[0]
            result = Cache(_One(value)).look(job_key, 0.0).result  # type: ignore[arg-type]
            if result is None:
                self._say("cache valid", f"{key} is not whole")
            elif self.keys.get(result.job_id) != job_key:
                self._say("right key", f"cache: {result.job_id} under {job_key[:8]}")
            elif not holds(result.output, self.asked[job_key]):
                self._say("cache valid", f"{job_key[:8]} holds {str(result.output)[:80]}")


class _One:
    """As much of Valkey as reading one value takes."""

    def __init__(self, value: str) -> None:
        self._value = value

    def get_many(self, _keys: Any) -> list[str | None]:
        return [self._value, None]

    def delete(self, _key: str) -> None:
        pass
