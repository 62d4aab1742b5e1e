"""What tests of the cache share: models of any policy, numbered answers, and looks behind them."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.contract import books
from tests.contract.jobs import REPORT, backed_off, loaded
from tests.contract.paces import kept
from tests.fakes import LambdaContext, answer
from tests.pipeline import Pipeline, catalogue
from tidegate.doors import clients
from tidegate.doors.actions import unpacked
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import OPERATOR, Job
from tidegate.rules.policies import CachePolicy
from worker.handler import handle

Deploy = Callable[..., Pipeline]
CHAT = "chat-mini"
PRICE = 7
"""Micro-credits of a hit, in the fixture `lives`."""
SOFT, HARD = 1000, 5000
"""Seconds of the lives that `with_cache` gives where nothing else is said."""


def with_cache(model: str = CHAT, entry: dict[str, Any] | None = None, **policy: Any) -> Catalogue:
    """Return the catalogue with another policy for one model, and other fields of its entry."""
    shipped = catalogue()
    lives = {"reuse": "always", "soft_ttl": SOFT, "hard_ttl": HARD}
    changed = shipped.models[model].model_copy(
        update={"cache": CachePolicy.model_validate({**lives, **policy}), **(entry or {})}
    )
    return shipped.model_copy(update={"models": {**shipped.models, model: changed}})


def priced(model: str, models: Catalogue, cached: int) -> Catalogue:
    """Return a catalogue in which a cached answer of a model costs so much."""
    entry = models.models[model]
    price = entry.price.model_copy(update={"cached": cached})
    changed = entry.model_copy(update={"price": price})
    return models.model_copy(update={"models": {**models.models, model: changed}})


def chat(text: str = "What is the answer?", **fields: Any) -> dict[str, Any]:
    """Return a question."""
    return {"model": CHAT, "input": {"messages": [{"role": "user", "content": text}]}, **fields}


def numbered(pipeline: Pipeline, extract: bool = False) -> None:
    """Let the vendor number its answers from 1."""
    numbers = itertools.count(1)

    def called(_call: object) -> Any:
        number = next(numbers)
        return answer(
            json.dumps({**REPORT, "account_id": number}) if extract else f"answer {number}"
        )

    pipeline.vendor.otherwise = called


def work(pipeline: Pipeline, model: str = CHAT) -> None:
    """Let workers do all that waits, refreshes too."""
    for _ in range(100):
        found = pipeline.deliver(model) + pipeline.deliver(f"{model}-low")
        if not found and not backed_off(pipeline, model) + backed_off(pipeline, model, "-low"):
            return
    raise AssertionError("messages without end")


def made(pipeline: Pipeline, body: dict[str, Any], key: str = "key-1", **named: str) -> str:
    """Return the id of a job that a worker has completed."""
    posted = pipeline.post(body, key, **named)
    assert posted.status == 202, posted.text
    work(pipeline, body["model"])
    job_id: str = posted.json["id"]
    assert loaded(pipeline, job_id).status == "completed"
    return job_id


def refreshes(pipeline: Pipeline) -> list[Job]:
    """Return the jobs that make stale answers anew, oldest first."""
    found = [job for job in books.jobs(pipeline) if job.partner == OPERATOR]
    return sorted(found, key=lambda job: job.id)


def spent(pipeline: Pipeline, partner: str = "acme") -> int:
    """Return what a partner was charged, in micro-credits."""
    return pipeline.ledger.balance(partner).captured


def work_key(pipeline: Pipeline, job_id: str) -> str:
    """Return a job's key."""
    return loaded(pipeline, job_id).job_key


def entry_key(pipeline: Pipeline, job_id: str) -> str:
    """Return the name of the answer to a job in Redis."""
    return f"tg:{{{work_key(pipeline, job_id)}}}:result"


def forget(pipeline: Pipeline) -> None:
    """Empty Redis."""
    pipeline.valkey._do(lambda client: client.flushall())


def results(pipeline: Pipeline) -> dict[str, str]:
    """Return the answers in Redis."""
    return {k: v for k, v in kept(pipeline.valkey).items() if k.endswith(":result")}


def durable(pipeline: Pipeline) -> list[dict[str, Any]]:
    """Return the answers that DynamoDB keeps."""
    return [i for i in map(unpacked, pipeline.items()) if i["sk"] == "answer"]


def void(pipeline: Pipeline, worker: str = CHAT, **whose: str) -> dict[str, Any]:
    """Declare answers void, as an operator does; return what is told."""
    context: Any = LambdaContext()
    event = {"invalidate": whose, "by": "ops", "why": "wrong"}
    return handle(event, context, pipeline.worker(worker), pipeline.models.models[worker])


def beside(pipeline: Pipeline, **changed: Any) -> Pipeline:
    """Return another process of the same deployment."""
    same = {f.name: getattr(pipeline, f.name) for f in dataclasses.fields(pipeline)}
    return Pipeline(**{**same, **changed})


@contextmanager
def watching(hook: Callable[..., Any]) -> Iterator[None]:
    """Let `hook` see every DynamoDB request of a `deploy`ed pipeline before moto does."""
    events = clients.dynamodb().meta.events
    events.register_first("before-send.dynamodb", hook)
    yield
    events.unregister("before-send.dynamodb", hook)
