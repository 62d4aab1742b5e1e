"""Tidegate's functions, built as they ship, around doors in memory; a pool of each function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from api.build import assemble as api_of
from api.routes import resolver
from replay.build import assemble as replay_of
from sweeper.build import assemble as sweeper_of
from tests.explorer.hub import Hub
from tests.explorer.memory_bucket import MemoryBucket
from tests.explorer.memory_keys import Keys
from tests.explorer.memory_queue import URL, Sqs
from tests.explorer.memory_table import MemoryTable, Store
from tests.explorer.memory_valkey import MemoryValkey, Told
from tests.explorer.memory_vendor import MemoryVendor
from tests.explorer.processes import CountedIds, Pool, Silent, VirtualClock
from tidegate.doors.assets import Assets
from tidegate.doors.dlq import DeadLetters
from tidegate.doors.ledger import Ledger
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.rules.catalogue import Catalogue, parse
from tidegate.settings import ApiSettings, RedisSettings, RepairSettings, WorkerSettings
from worker.build import assemble as worker_of

CHAT: dict[str, Any] = {
    "adapter": "openai-chat",
    "vendor": "v",
    "vendor_model": "v",
    "task": "chat",
    "max_concurrency": 3,
    "timeouts": {"connect": 2, "read": 4, "total": 5, "margin": 4},
    "retry": {"attempts": 3, "starts": 5, "base": 2, "cap": 8},
    "cache": {"reuse": "always", "hard_ttl": 86_400},
    "price": {"per_call": 1000, "per_1k_input_tokens": 1000, "cached": 100},
    "deadline": 1800,
}

POSTS = 6
"""Of one partner in a minute: no story but the one about that has more."""

LANES = ("", "-low")
"""What a model's two queues are called after its name."""

IMAGE: dict[str, Any] = {
    **CHAT,
    "adapter": "openai-images",
    "task": "image",
    "price": {"per_image": 1000, "cached": 100},
}


PACE: dict[str, Any] = {
    "requests_per_minute": 20, "burst": 1, "horizon": 4, "expected_latency": 1,
}  # fmt: skip
"""One call every 3 s: the second of two at once awaits its slot, the third is deferred."""

SOFT: dict[str, Any] = {
    **CHAT["cache"], "soft_ttl": 60, "hard_ttl": 3600, "jitter": 0, "negative_ttl": 60,
}  # fmt: skip
"""Stale after a minute; what fails for good twice in a row is not tried for another."""


@cache
def catalogue() -> Catalogue:
    """Return the models: each partner's own work, shared work, work never reused, images, paced,
    with answers that turn stale, with answers that end soon after, code."""
    return parse(
        {
            "partners": {"requests_per_minute": POSTS},
            "models": {
                "chat": CHAT,
                "shared": {**CHAT, "cache": {**CHAT["cache"], "scope": "shared"}},
                "image": IMAGE,
                "once": {**CHAT, "cache": {**CHAT["cache"], "reuse": "never"}},
                "paced": {**CHAT, "pace": PACE},
                "soft": {**CHAT, "cache": SOFT},
                "brief": {**CHAT, "cache": {**SOFT, "hard_ttl": 62}},
                "code": {**CHAT, "task": "code", "normalise": "code-structure"},
            },
        }
    )


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
        self.jobs = MemoryTable(self.hub, self.store, "jobs")
        self.ledger = Ledger(MemoryTable(self.hub, self.store, "ledger"))
        self._client: Any = self.sqs
        nothing: Any = None
        self.payloads = Payloads(nothing, "assets")
        bucket: Any = MemoryBucket(self.hub)
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
        self.store.watchers.clear()
        self.store.after.clear()
        self.store.due.clear()
        self.store.stale.clear()
        self.redis.values.clear()
        self.redis.wipes = 0
        self.scripts.clear()
        self.sqs.reset()
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
            doors = worker_of(
                settings, entry, self.clock, self.ids, self._silent,
                **self._doors(), valkey=valkey, assets=self._assets, vendor=self.vendor,
            )  # fmt: skip
            valkey.forgets.append(doors.epochs._known.clear)
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
