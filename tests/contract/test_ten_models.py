"""Ten models with limits of their own on one Redis cluster: every call is one slot of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from redis.crc import key_slot

from cli.local import redis
from tests.contract.jobs import loaded
from tests.contract.test_accept import BODY
from tests.contract.virtual import empty_moto
from tests.fakes import LambdaContext, answer
from tests.pipeline import ROOT, Pipeline, catalogue, create_tables_and_queues
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Script, Valkey, Values
from tidegate.errors import VendorThrottled
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import Status
from tidegate.settings import RedisSettings
from tidegate.vendors.base import VendorAnswer, VendorCall
from worker.handler import handle

LUA = ROOT / "layers" / "tidegate" / "python" / "tidegate" / "doors" / "lua"
MODELS = [f"model-{n}" for n in range(10)]
OF_A_MODEL = {"pace_take", "pace_settle", "pace_cool_down", "pace_switch", "line_join", "line_turn"}
"""Scripts whose keys have the model's tag."""
OF_WORK = {"lease_take", "lease_release", "promote", "remove_if", "refresh_begin"}
OF_A_PARTNER = {"rate_take"}
OF_ALL = {"epochs_raise"}


class Recorded(Valkey):
    """The shipped door to Redis, that keeps which keys each call had."""

    def __init__(self, url: str) -> None:
        super().__init__(RedisSettings(url, None, None, ""), None, SystemClock())
        self.keys: dict[str, list[tuple[str, ...]]] = defaultdict(list)

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        self.keys["get_many"].append(tuple(keys))
        return super().get_many(keys)

    def get(self, key: str) -> str | None:
        self.keys["get"].append((key,))
        return super().get(key)

    def set(self, key: str, value: str, seconds: float) -> None:
        self.keys["set"].append((key,))
        super().set(key, value, seconds)

    def delete(self, key: str) -> None:
        self.keys["delete"].append((key,))
        super().delete(key)

    def get_hash(self, key: str) -> dict[str, str]:
        self.keys["get_hash"].append((key,))
        return super().get_hash(key)

    def count_between(self, key: str, first: str, last: str) -> int:
        self.keys["count_between"].append((key,))
        return super().count_between(key, first, last)

    def remove(self, key: str, member: str) -> None:
        self.keys["remove"].append((key,))
        super().remove(key, member)

    def run(self, script: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        self.keys[script].append(tuple(keys))
        return super().run(script, keys, args)

    def together(self, calls: Sequence[Values | Script]) -> list[Any]:
        for call in calls:
            self.keys[call.name if isinstance(call, Script) else "together"].append(call.keys)
        return super().together(calls)


def ten() -> Catalogue:
    """Return ten models alike but for their name, each with limits of requests and tokens."""
    shipped = catalogue()
    entry = shipped.models["chat-mini"]
    assert entry.pace.requests_per_minute
    assert entry.pace.tokens_per_minute
    return shipped.model_copy(update={"models": dict.fromkeys(MODELS, entry)})


@pytest.fixture
def recorded(redis_cluster: str) -> Iterator[Recorded]:
    redis.flush(redis_cluster)
    door = Recorded(redis_cluster)
    yield door
    door.close()


@pytest.fixture
def fleet(_moto: Any, recorded: Recorded) -> Iterator[Pipeline]:
    _moto.reset()
    create_tables_and_queues(ten())
    yield Pipeline(recorded, models=ten())
    empty_moto()


def posted(fleet: Pipeline) -> dict[str, str]:
    """Return each job and its partner: two partners and both lanes of every model."""
    ids = {}
    for model in MODELS:
        for n, (partner, priority) in enumerate(
            [("acme", "normal"), ("umbrella", "normal"), ("acme", "low")]
        ):
            body = {**question(model, n), "priority": priority}
            ids[fleet.post(body, f"{model}-{n}", partner).json["id"]] = partner
    return ids


def question(model: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": f"question {number}"}
    return {**BODY, "model": model, "input": {"messages": [message]}}


def asked_again(fleet: Pipeline, ids: dict[str, str]) -> None:
    """Ask every model again, one answer being damaged; then when all are stale."""
    damaged = loaded(fleet, next(iter(ids))).job_key
    fleet.valkey.set(f"tg:{{{damaged}}}:result", "damaged", 60)
    for key in ("fresh", "stale"):
        for model in MODELS:
            hit = fleet.post(question(model, 0), f"{model}-{key}").json
            assert (hit["source"], hit["cache"]["stale"]) == ("cache", key == "stale")
        fleet.clock.time += fleet.models.models[model].cache.soft_ttl or 0


def switched(fleet: Pipeline) -> None:
    """Pause and resume every model."""
    context: Any = LambdaContext()
    for model in MODELS:
        for switch in ("pause", "resume"):
            entry = fleet.models.models[model]
            assert handle({"switch": switch}, context, fleet.worker(model), entry)["seen"] is True


def worked(fleet: Pipeline, ids: dict[str, str]) -> None:
    """Let every job be completed."""
    for _ in range(3):
        for model in MODELS:
            fleet.deliver(model)
            fleet.deliver(f"{model}-low")
        fleet.later(10)
        # A refused call's message is away for seconds of moto's own time: sent again by hand.
        for job in (loaded(fleet, each) for each in ids):
            if not job.done:
                queue = fleet.api.doors.waiting_room.queue
                queue.send(fleet.queue_url(job.queue), job.id, job.partner)
    for job in (loaded(fleet, each) for each in ids):
        assert job.status is Status.COMPLETED
        fleet.worker(job.model).cache.unstage(job.job_key)  # as after a quarantined answer


def test_ten_models_share_a_cluster_and_no_call_crosses_its_slots(
    fleet: Pipeline, recorded: Recorded, redis_cluster: str
) -> None:
    refused: set[str] = set()

    def call(asked: VendorCall) -> VendorAnswer:
        """Refuse each model once."""
        model = loaded(fleet, asked.idempotency_key.partition(".")[0]).model
        if model not in refused:
            refused.add(model)
            raise VendorThrottled("429", vendor_status=429, retry_after=0.05)
        return answer()

    fleet.vendor.otherwise = call
    ids = posted(fleet)
    switched(fleet)
    worked(fleet, ids)
    assert refused == set(MODELS)
    asked_again(fleet, ids)

    scripts = {path.stem for path in LUA.glob("*.lua")}
    assert scripts == OF_A_MODEL | OF_WORK | OF_A_PARTNER | OF_ALL
    commands = {"get_many", "get", "set", "delete", "get_hash", "count_between", "remove"}
    commands |= {"together"}
    assert set(recorded.keys) == scripts | commands
    for name, keys in ((name, keys) for name, calls in recorded.keys.items() for keys in calls):
        assert len({key_slot(key.encode()) for key in keys}) == 1, (name, keys)
        assert len({tag(key) for key in keys}) == 1, (name, keys)
    for name in OF_A_MODEL:
        assert {tag(keys[0]) for keys in recorded.keys[name]} == set(MODELS), name
    used = {key_slot(f"{{{model}}}".encode()) * 3 // redis.SLOTS for model in MODELS}
    assert used == {0, 1, 2}, "every node has some of them"
    assert len(redis.cluster_ports(redis_cluster)) == 3


def tag(key: str) -> str:
    """Return what decides on a key's slot."""
    return key[key.index("{") + 1 : key.index("}")]
