"""Tidegate's functions, built as they ship, around doors in memory; a pool of each function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from api.build import assemble as api_of
from api.routes import resolver
from replay.build import assemble as replay_of
from sweeper.build import assemble as sweeper_of
from tests.explorer.hub import Hub
from tests.explorer.memory_bucket import MemoryBucket, SmallItems
from tests.explorer.memory_keys import Keys
from tests.explorer.memory_queue import URL, Sqs
from tests.explorer.memory_references import Sets
from tests.explorer.memory_table import MemoryTable, Store
from tests.explorer.memory_valkey import MemoryValkey, Told
from tests.explorer.memory_vendor import MemoryVendor
from tests.explorer.models import catalogue
from tests.explorer.processes import CountedIds, Pool, Silent, VirtualClock
from tidegate.doors.assets import Assets
from tidegate.doors.dlq import DeadLetters
from tidegate.doors.ledger import Ledger
from tidegate.doors.queue import Queue
from tidegate.settings import ApiSettings, RedisSettings, RepairSettings, WorkerSettings
from worker.build import assemble as worker_of

LANES = ("", "-low")
"""What a model's two queues are called after its name."""


@dataclass
class Deployment:
    """Everything that is deployed. `reset` empties it; the functions stay built."""

    hub: Hub
    scripts: list[Told] = field(default_factory=list)
    """Told of each script that ran in Redis."""

    def __post_init__(self) -> None:
        self.catalogue = catalogue()
        visibility = round(self.catalogue.models["chat"].timeouts.visibility * 1000)
        self.store = Store()
        self.redis = Keys(lambda: self.hub.ms)
        redriven = frozenset(
            f"{URL}{name}{lane}" for name in self.catalogue.models for lane in LANES
        )
        self.sqs = Sqs(self.hub, visibility, redriven=redriven)
        self.vendor = MemoryVendor(self.hub)
        self.ids = CountedIds()
        self.clock = VirtualClock(self.hub)
        self.sets = Sets(self.hub, self.store)
        self.jobs = MemoryTable(self.hub, self.store, "jobs")
        self.ledger = Ledger(MemoryTable(self.hub, self.store, "ledger"))
        self._client: Any = self.sqs
        self.bucket = MemoryBucket(self.hub)
        bucket: Any = self.bucket
        self.payloads = SmallItems(bucket, "assets")
        self._assets = Assets(bucket, "assets")
        self._silent = Silent()
        self._valkeys: list[MemoryValkey] = []
        self.apis = Pool(self._api, self._valkey)
        self.workers = {
            name: Pool(self._worker(name), self._valkey) for name in self.catalogue.models
        }
        self.sweepers = Pool(self._sweeper, self._valkey)
        self.replays = Pool(self._replay, self._valkey)

    def reset(self) -> None:
        """Be as deployed a moment ago."""
        self.store.tables.clear()
        self.sets.load()
        self.store.watchers.clear()
        self.store.after.clear()
        self.store.due.clear()
        self.store.stale.clear()
        self.redis.values.clear()
        self.redis.wipes = 0
        self.scripts.clear()
        self.sqs.reset()
        self.bucket.objects.clear()
        self.vendor.reset()
        self.ids.again()
        for valkey in self._valkeys:
            valkey.fresh()

    def _valkey(self) -> MemoryValkey:
        valkey = MemoryValkey(self.hub, self.redis, self._ran)
        self._valkeys.append(valkey)
        return valkey

    def _ran(self, script: str, keys: list[str], args: list[Any], answer: Any) -> None:
        for told in self.scripts:
            told(script, keys, args, answer)

    def _doors(self) -> dict[str, Any]:
        return {
            "table": self.jobs,
            "ledger": self.ledger,
            "payloads": self.payloads,
            "queue": Queue(self._client, self.clock),
        }

    def _api(self, valkey: MemoryValkey) -> Any:
        settings = ApiSettings("test", "jobs", "ledger", "assets", URL, "https://api", _redis())
        api = api_of(
            settings, self.catalogue, self.clock, self.ids, self._silent,
            **self._doors(), valkey=valkey, assets=self._assets,
        )  # fmt: skip
        valkey.forgets.append(api.doors.look.epochs._known.clear)
        return api, resolver(api)

    def _worker(self, model: str) -> Callable[[MemoryValkey], Any]:
        settings = WorkerSettings(
            "test", model, "jobs", "ledger", "assets", URL + model, f"{URL}{model}-low",
            f"{URL}{model}-dlq", f"{URL}quarantine", "https://vendor", "secret", _redis(),
        )  # fmt: skip
        entry = self.catalogue.models[model]

        def make(valkey: MemoryValkey) -> Any:
            references, forget = self.sets.door(self.catalogue.sources(model))
            doors = worker_of(
                settings, entry, self.clock, self.ids, self._silent,
                **self._doors(), valkey=valkey, assets=self._assets, vendor=self.vendor,
                references=references,
            )  # fmt: skip
            valkey.forgets += [doors.epochs._known.clear, forget]
            return doors, entry

        return make

    def _sweeper(self, _valkey: MemoryValkey) -> Any:
        return sweeper_of(_repair(), self.catalogue, self.clock, self._silent, **self._doors())

    def _replay(self, _valkey: MemoryValkey) -> Any:
        letters = DeadLetters(self._client, wait=0)
        return replay_of(
            _repair(), self.clock, self._silent, **self._doors(), dead_letters=letters
        )  # fmt: skip


def _repair() -> RepairSettings:
    return RepairSettings("test", "jobs", "ledger", "assets", URL)


def _redis() -> RedisSettings:
    return RedisSettings("unused", None, None, "us-east-1")
