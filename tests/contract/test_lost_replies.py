"""Executed, but the reply was lost: every DynamoDB write of the path, one after the other.

A botocore hook lets the request be executed and then raises what a dropped connection raises, so
the SDK sends the write again and it meets its own effect.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import botocore_stubber

from tests.contract.test_accept import BODY
from tests.pipeline import Pipeline

WRITES = ("PutItem", "TransactWriteItems", "UpdateItem")


class LosesReply:
    """Loses the reply of the n-th write."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0
        self.lost: str | None = None

    def __call__(self, event_name: str, request: Any, **_: Any) -> Any:
        operation = event_name.rpartition(".")[2]
        if operation not in WRITES:
            return None
        self.seen += 1
        if self.seen != self.number:
            return None
        stubber: BotocoreStubber = botocore_stubber
        stubber(event_name, request)
        self.lost = operation
        raise ConnectionClosedError(endpoint_url=request.url)


def run(pipeline: Pipeline, number: int) -> LosesReply:
    """Run a request to its end with the n-th write's reply lost."""
    hook = LosesReply(number)
    pipeline.hook_dynamodb(hook)
    first = pipeline.post(BODY, "a")
    joined = pipeline.post(BODY, "b")
    pipeline.deliver("chat-mini")
    hit = pipeline.post(BODY, "c")

    assert (first.status, joined.status, hit.status) == (202, 202, 200)
    assert joined.json["id"] == first.json["id"]
    assert not any("Idempotent-Replayed" in each.headers for each in (first, joined, hit))
    job = pipeline.get(f"/v1/jobs/{first.json['id']}").json
    assert (job["status"], job["attempts"], job["output"]) == ("completed", 1, {"text": "42"})
    assert len(pipeline.vendor.calls) == 1
    kinds = Counter(item["sk"]["S"] for item in pipeline.items())
    assert kinds == {"claim": 3, "status": 2, "input": 1, "output": 1, "answer": 1}
    return hook


@pytest.mark.parametrize("number", range(1, 6))
def test_a_write_whose_reply_is_lost_knows_itself(pipeline: Pipeline, number: int) -> None:
    assert run(pipeline, number).lost is not None


def test_these_are_all_the_writes_of_the_path(pipeline: Pipeline) -> None:
    assert run(pipeline, 99).seen == 5
