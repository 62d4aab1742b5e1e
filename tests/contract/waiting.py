"""What tests of waiting share: a job that waits, a refusal, an operator, and what was told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.jobs import loaded
from tests.contract.test_accept import BODY
from tests.contract.world import World
from tests.fakes import LambdaContext
from tidegate.errors import VendorThrottled
from tidegate.rules.job import Job
from worker.handler import handle

MODEL = "chat-mini"


def posted(world: World, n: int = 0, **fields: Any) -> str:
    message = {"role": "user", "content": f"question {n}"}
    body = {**BODY, "input": {"messages": [message]}, **fields}
    return str(world.post(body, f"key-{n}").json["id"])


def job(world: World, job_id: str) -> Job:
    return loaded(world.pipeline, job_id)


def throttled(after: float | None = None) -> VendorThrottled:
    return VendorThrottled("the vendor answered 429", vendor_status=429, retry_after=after)


def turned(world: World, event: dict[str, Any]) -> dict[str, Any]:
    """Return the worker's answer to an operator."""
    pipeline = world.pipeline
    entry = pipeline.models.models[MODEL]
    context: Any = LambdaContext()
    return handle(event, context, pipeline.worker(MODEL), entry)


def metrics(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the metrics written since the last look."""
    found: dict[str, Any] = {}
    for line in capsys.readouterr().out.splitlines():
        if line.startswith('{"_aws"'):
            found |= json.loads(line)
    return found
