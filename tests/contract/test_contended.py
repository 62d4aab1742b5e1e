"""Other transactions without end: the answer is to come again, never a refusal, and nothing is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract import books
from tests.contract.faults import CONDITIONAL, busy
from tests.contract.jobs import EXTRACT, REPORT, drain
from tests.contract.test_accept import BODY
from tests.fakes import answer
from tests.pipeline import Answer, Pipeline
from tidegate.doors.dynamo import CONFLICT_TRIES

IMAGE = {"model": "image-studio", "prompt": "a cat"}
KEY: dict[str, str | list[str]] = {"Content-Type": "application/json", "Idempotency-Key": "key-9"}


class Contention:
    """Conditional writes meet another transaction, so many times."""

    left = 0

    def __call__(self, event_name: str, request: Any, **_: Any) -> Any:
        operation = event_name.rpartition(".")[2]
        if operation not in CONDITIONAL or self.left == 0:
            return None
        self.left -= 1
        return busy(operation, request)


@pytest.fixture
def contention(pipeline: Pipeline) -> Iterator[Contention]:
    """One job is finished and one is running; contention has not begun."""
    pipeline.vendor.script = [answer(json.dumps(REPORT))]
    pipeline.post(EXTRACT, "done")
    drain(pipeline, "risk-report")
    pipeline.post({**EXTRACT, "params": {"max_tokens": 9}}, "running")
    hook = Contention()
    pipeline.hook_dynamodb(hook)
    yield hook
    hook.left = 0


def new(pipeline: Pipeline) -> Answer:
    return pipeline.post(BODY, "key-9")


def joined(pipeline: Pipeline) -> Answer:
    return pipeline.post({**EXTRACT, "params": {"max_tokens": 9}}, "key-9")


def hit(pipeline: Pipeline) -> Answer:
    return pipeline.post(EXTRACT, "key-9")


def cancel(pipeline: Pipeline) -> Answer:
    (job,) = (job for job in books.jobs(pipeline) if not job.done)
    return pipeline.send("POST", f"/v1/jobs/{job.id}/cancel")


def images(pipeline: Pipeline) -> Answer:
    return pipeline.send("POST", "/v1/images/generations", body=IMAGE, headers=KEY)


def short_of_credits(pipeline: Pipeline) -> Answer:
    return pipeline.post(BODY, "key-9", partner="penniless")


REQUESTS = [new, joined, hit, cancel, images, short_of_credits]


def everything(pipeline: Pipeline) -> tuple[list[Any], dict[str, Any], int]:
    messages = len(pipeline.bodies(pipeline.queue_url("chat-mini")))
    return pipeline.items(), books.check(pipeline), messages


@pytest.mark.parametrize("ask", REQUESTS, ids=lambda ask: ask.__name__)
def test_contention_without_end_is_told_to_come_again_and_stores_nothing(
    pipeline: Pipeline, contention: Contention, ask: Callable[[Pipeline], Answer]
) -> None:
    before = everything(pipeline)
    contention.left = 10**6
    refused = ask(pipeline)

    assert (refused.status, refused.json["code"]) == (503, "temporarily_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert refused.json["retryable"]
    assert everything(pipeline) == before


@pytest.mark.parametrize(
    ("ask", "status"),
    [(new, 202), (joined, 202), (hit, 200), (cancel, 200), (images, 202), (short_of_credits, 402)],
    ids=[ask.__name__ for ask in REQUESTS],
)
def test_contention_that_passes_is_not_noticed(
    pipeline: Pipeline,
    contention: Contention,
    ask: Callable[[Pipeline], Answer],
    status: int,
) -> None:
    contention.left = CONFLICT_TRIES - 1
    assert ask(pipeline).status == status
    books.check(pipeline)
