"""What tests of dead letters share: making them, running the replay function, reading the money."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from moto.core.models import DEFAULT_ACCOUNT_ID, botocore_stubber
from moto.sqs.models import sqs_backends

from cli.ledger import Audited, audited
from replay.build import Operator, assemble
from replay.handler import handle
from tests.contract.jobs import drain
from tests.fakes import LambdaContext
from tests.pipeline import REGION, Pipeline
from tidegate.doors.dlq import DeadLetters
from tidegate.doors.dynamo import Table
from tidegate.doors.ledger import Ledger
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.errors import VendorFailed
from tidegate.rules.policies import RetryPolicy
from tidegate.settings import RepairSettings
from tidegate.telemetry import Telemetry

MODEL = "chat-mini"
OPERATIONS = {
    "GetQueueAttributes", "ReceiveMessage", "SendMessage", "DeleteMessage",
    "ChangeMessageVisibilityBatch", "GetItem", "TransactWriteItems", "PutItem", "UpdateItem",
}  # fmt: skip


class Killed(BaseException):
    """The process is gone: no handler runs, no reply is read."""


@dataclass
class Knife:
    """Kills at the n-th call of a door, before it is executed or after; then nothing works."""

    number: int = 0
    """0: never."""
    after: bool = False
    calls: int = 0
    dead: bool = False

    def __call__(self, event_name: str, request: Any, **_: Any) -> None:
        if self.dead:
            raise Killed
        assert event_name.rpartition(".")[2] in OPERATIONS
        self.calls += 1
        if self.calls == self.number:
            self.dead = True
            if self.after:
                botocore_stubber(event_name, request)
            raise Killed


def asks(pipeline: Pipeline, text: str, partner: str = "acme") -> str:
    """Post a job of its own kind and return its id."""
    body = {"model": MODEL, "input": {"messages": [{"role": "user", "content": text}]}}
    job_id: str = pipeline.post(body, text, partner).json["id"]
    return job_id


def dead_letters(pipeline: Pipeline, count: int, partner: str = "acme") -> list[str]:
    """Have a broken vendor dead-letter jobs; the vendor is well again after that."""
    with_one_attempt(pipeline)
    # One attempt, and two receives instead of ten: moto takes its time over each.
    arn = f"arn:aws:sqs:{REGION}:{DEFAULT_ACCOUNT_ID}:tg-{MODEL}-dlq"
    redrive = {"deadLetterTargetArn": arn, "maxReceiveCount": 2}
    pipeline.sqs.set_queue_attributes(
        QueueUrl=pipeline.queue_url(MODEL), Attributes={"RedrivePolicy": json.dumps(redrive)}
    )
    jobs = []
    for number in range(count):
        pipeline.vendor.script = [VendorFailed("409", vendor_status=409)]  # no outage
        jobs.append(asks(pipeline, f"{partner}-{number}", partner))
        work(pipeline)
    pipeline.vendor.calls.clear()
    return jobs


def with_one_attempt(pipeline: Pipeline, model: str = MODEL) -> None:
    """Let a job be dead-lettered by its first failure."""
    entry = pipeline.models.models[model]
    quick = entry.model_copy(update={"retry": RetryPolicy(attempts=1)})
    models = {**pipeline.models.models, model: quick}
    pipeline.models = pipeline.models.model_copy(update={"models": models})


def work(pipeline: Pipeline) -> None:
    """Let the worker do all there is."""
    drain(pipeline, MODEL)


def doors(pipeline: Pipeline, knife: Knife | None = None) -> Operator:
    """Return the replay function's doors on clients of their own."""
    config = Config(retries={"total_max_attempts": 1})
    sqs = boto3.client("sqs", region_name=REGION, config=config)
    dynamodb = boto3.client("dynamodb", region_name=REGION, config=config)
    if knife is not None:
        for client in (sqs, dynamodb):
            client.meta.events.register_first("before-send", knife)
    clock, ids = pipeline.clock, pipeline.ids
    return assemble(
        RepairSettings("local", "jobs", "ledger", "assets", pipeline.prefix),
        clock,
        Telemetry("replay", "local"),
        table=Table(dynamodb, "jobs", clock, ids),
        ledger=Ledger(Table(dynamodb, "ledger", clock, ids)),
        payloads=Payloads(pipeline.s3, "assets"),
        queue=Queue(sqs, clock),
        dead_letters=DeadLetters(sqs, wait=0),
    )


def run(
    pipeline: Pipeline, event: dict[str, Any], *, knife: Knife | None = None, left: float = 100.0
) -> dict[str, Any]:
    """Return the replay function's answer to an event, `model` being understood."""
    context: Any = LambdaContext(left)
    return handle({"model": MODEL, **event}, context, doors(pipeline, knife), pipeline.models)


def replayed(pipeline: Pipeline, **event: Any) -> dict[str, Any]:
    """Return the answer to a replay that is not dry."""
    return run(pipeline, {"action": "replay", "dry_run": False, **event})


def results(answer: dict[str, Any]) -> list[str]:
    """Return what became of each message, in alphabetical order."""
    return sorted(item["result"] for item in answer["items"])


def come_back(url: str) -> None:
    """Let the visibility timeouts of a queue pass."""
    queue = sqs_backends[DEFAULT_ACCOUNT_ID][REGION].queues[url.rpartition("/")[2]]
    for message in queue._messages:
        message.visible_at = 0.0


def bodies(pipeline: Pipeline) -> list[str]:
    """Return the bodies in the DLQ, however many, and leave them there."""
    url = pipeline.dlq_url(MODEL)
    queue = sqs_backends[DEFAULT_ACCOUNT_ID][REGION].queues[url.rpartition("/")[2]]
    return [message.body for message in queue._messages]


def books(pipeline: Pipeline) -> list[Audited]:
    """Return what `tidegate ledger verify` finds."""
    return audited(pipeline.dynamodb, "ledger", "jobs")


def differences(pipeline: Pipeline) -> list[str]:
    """Return every difference that `tidegate ledger verify` finds."""
    return [each for partner in books(pipeline) for each in partner.differences]
