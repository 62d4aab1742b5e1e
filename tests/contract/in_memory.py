"""The shipped api and workers around the explorer's doors in memory: hundreds of jobs a second."""

from __future__ import annotations

import io
import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from api.build import assemble as api_of
from api.handler import handle as handle_api
from api.routes import resolver
from tests.explorer.clients import http_event
from tests.explorer.hub import Hub
from tests.explorer.memory_keys import Keys
from tests.explorer.memory_queue import URL, Sqs, record
from tests.explorer.memory_table import MemoryTable, Store
from tests.explorer.memory_valkey import MemoryValkey
from tests.explorer.processes import Silent
from tests.fakes import FakeIds, LambdaContext
from tests.pipeline import FUNDS
from tidegate.clock import Clock
from tidegate.doors.actions import Item
from tidegate.doors.assets import Assets
from tidegate.doors.items import job_of
from tidegate.doors.ledger import Ledger
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.doors.references import References, Source
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import Job
from tidegate.settings import ApiSettings, RedisSettings, WorkerSettings
from tidegate.vendors.base import Vendor
from worker.build import assemble as worker_of
from worker.handler import handle as handle_worker

VISIBILITY_MS = 60_000


class Time:
    """The hub's time, which passes when somebody waits."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.now = hub.now

    def sleep(self, seconds: float) -> None:
        self._hub.ms += round(seconds * 1000)


class Bucket:
    """As much of S3 as payloads and images need."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}

    def put_object(self, **asked: Any) -> None:
        self.objects[asked["Key"]] = asked

    def get_object(self, **asked: Any) -> dict[str, Any]:
        found = self.objects[asked["Key"]]
        return {**found, "Body": io.BytesIO(found["Body"])}

    def generate_presigned_url(self, _operation: str, **asked: Any) -> str:
        return f"https://assets/{asked['Params']['Key']}"


class Counted(Silent):
    """Telemetry that keeps count."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def count(self, name: str, value: float = 1, **_dimensions: str) -> None:
        self.counts[name] += round(value)


class Members:
    """A set of references that is always there."""

    def __init__(self, members: frozenset[str]) -> None:
        self._members = members

    def known(self, values: frozenset[str]) -> frozenset[str]:
        return values & self._members

    def ready(self) -> None:
        """Be there."""


def there(sets: Mapping[str, frozenset[str]]) -> Callable[[Clock], Mapping[str, Source]]:
    """Return sets that are always there."""
    return lambda _clock: {name: Members(each) for name, each in sets.items()}


class Memory:
    """One deployment."""

    def __init__(
        self, models: Catalogue, vendor: Vendor, sources: Callable[[Clock], Mapping[str, Source]]
    ) -> None:
        self.hub, self.store, self.bucket = Hub(), Store(), Bucket()
        self.clock, self.telemetry = Time(self.hub), Counted()
        self.redis = Keys(lambda: self.hub.ms)
        redriven = frozenset(URL + name for name in models.models)
        self.sqs = Sqs(self.hub, VISIBILITY_MS, redriven=redriven)
        self._models, self._keys = models, map(str, itertools.count())
        ids, client, bucket = FakeIds(), self.sqs, self.bucket
        outside: Any = {
            "table": MemoryTable(self.hub, self.store, "jobs"),
            "ledger": Ledger(MemoryTable(self.hub, self.store, "ledger")),
            "payloads": Payloads(bucket, "assets"),  # type: ignore[arg-type]
            "valkey": MemoryValkey(self.hub, self.redis),
            "queue": Queue(client, self.clock),  # type: ignore[arg-type]
            "assets": Assets(bucket, "assets"),  # type: ignore[arg-type]
        }
        self.ledger: Ledger = outside["ledger"]
        redis = RedisSettings("unused", None, None, "us-east-1")
        settings = ApiSettings("test", "jobs", "ledger", "assets", URL, "https://api", redis)
        self.api = api_of(settings, models, self.clock, ids, self.telemetry, **outside)
        self._app = resolver(self.api)
        self.workers = {
            name: worker_of(
                WorkerSettings(
                    "test", name, "jobs", "ledger", "assets", URL + name, f"{URL}{name}-low",
                    f"{URL}{name}-dlq", f"{URL}quarantine", "https://vendor", "secret", redis,
                ),
                entry, self.clock, ids, self.telemetry,
                **outside, vendor=vendor, references=References(sources(self.clock), self.clock),
            )
            for name, entry in models.models.items()
        }  # fmt: skip

    def begin(self) -> None:
        """Be empty, but for the funds of acme."""
        self.hub.reset({})
        self.sqs.reset()
        for kept in (self.store.tables, self.store.due, self.redis.values, self.bucket.objects):
            kept.clear()
        self.telemetry.counts.clear()
        self.ledger.credit("acme", "funds", FUNDS, 0)

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, Any, str]:
        """Return status, JSON and text of the api's answer."""
        headers = {"Content-Type": ["application/json"], "Idempotency-Key": [next(self._keys)]}
        event = http_event(method, path, "acme", headers, body)
        context: Any = LambdaContext()
        answer = handle_api(event, context, self.api, self._app)
        return answer["statusCode"], json.loads(answer["body"]), answer["body"]

    def post(self, body: Any) -> str:
        """Return the id of an accepted job."""
        status, accepted, text = self.ask("POST", "/v1/jobs", json.dumps(body))
        assert status == 202, text
        job_id: str = accepted["id"]
        return job_id

    def work(self, model: str) -> None:
        """Let a model's worker do all that there is, and wait for what comes later."""
        for _ in range(1000):
            if not self.deliver(model):
                return
        raise AssertionError("messages without end")

    def deliver(self, model: str) -> bool:
        """Return whether a model's worker had another message to work on, when its time came."""
        url, entry = URL + model, self._models.models[model]
        waiting = self.sqs.queues.get(url)
        if not waiting:
            return False
        self.hub.ms = max(self.hub.ms, min(each.visible_ms for each in waiting.values()))
        stored = self.sqs.receive(url)
        if stored is not None:
            event = {"Records": [record(stored, url)]}
            context: Any = LambdaContext(30.0)
            result = handle_worker(event, context, self.workers[model], entry)
            if not result["batchItemFailures"]:
                self.sqs.delete(url, stored.receipt)
        return True

    def bodies(self, queue: str) -> list[Any]:
        """Return the messages in a queue."""
        return [json.loads(each.body) for each in self.sqs.queues.get(URL + queue, {}).values()]

    def jobs(self) -> dict[str, Job]:
        """Return all jobs by their ids."""
        found = [job_of(item) for item in self.store.all("jobs") if item["sk"] == "status"]
        return {job.id: job for job in found}

    def kept(self, job: Job) -> dict[str, Item | str]:
        """Return what is kept of a job and of its work: items of the table, and keys of Redis."""
        kept: dict[str, Item | str] = {}
        for pk in (f"job#{job.id}", f"work#{job.job_key}"):
            kept |= self.store.items("jobs", pk)
        for name in ("result", "stage"):
            value = self.redis.get(f"tg:{{{job.job_key}}}:{name}")
            kept |= {} if value is None else {name: value}
        return kept
