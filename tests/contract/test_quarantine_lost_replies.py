"""Decisions about quarantined answers with a fault at any call to AWS: said twice, done once."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from moto.core.models import MockAWS

from replay.build import build
from replay.handler import handle
from tests.contract.faults import Fault, Kind, kinds
from tests.contract.jobs import EXTRACT, loaded
from tests.contract.quarantining import STRANGER, decision, record_of
from tests.contract.strike import Story, clean, struck
from tests.contract.virtual import bodies
from tests.contract.world import PARTNER, World, deployed
from tests.fakes import LambdaContext, answer
from tidegate.doors import clients
from tidegate.doors.dlq import DeadLetters
from tidegate.doors.queue import body_of
from tidegate.rules.job import Status
from tidegate.settings import RepairSettings

OTHERS = body_of("job_other")
"""A message that waits for somebody else's decision."""

LONG = random.Random(6).randbytes(310_000).hex()  # noqa: S311
"""More than an item holds, however it is packed."""


@pytest.fixture(scope="module")
def world(_moto: MockAWS, redis_single: str) -> Iterator[World]:
    with deployed(_moto, redis_single) as made:
        yield made


def asked(world: World, event: dict[str, Any]) -> list[Any]:
    """Return what the function says of each job; nothing if it is not heard."""
    settings = RepairSettings("local", "jobs", "ledger", "assets", world.pipeline.prefix)
    built = build(settings, world.clock, world.ids)
    letters = DeadLetters(clients.sqs(), wait=0)
    operator = replace(built, quarantine=replace(built.quarantine, dead_letters=letters))
    context: Any = LambdaContext()
    said: list[Any] = []
    world.operate(lambda: said.append(handle(event, context, operator, world.pipeline.models)))
    return [(item["result"], item["reason"]) for each in said for item in each["items"]]


def decided_twice(world: World, action: str, done: str, text: str) -> str:
    """Say a decision about an answer twice, whatever is heard, and return its job's id."""
    world.vendor.otherwise = lambda _call: answer(text)
    with world.wire.unwatched():
        job_id: str = world.post(EXTRACT, "a").json["id"]
        world.settle()
        queue = world.pipeline.quarantine_url
        world.pipeline.sqs.send_message(QueueUrl=queue, MessageBody=OTHERS)
    world.clock.time += 0.0004  # what is stored is rounded
    heard = asked(world, decision(action, job_id))
    assert "refused" not in dict(heard)  # by whom, but itself?
    with world.wire.unwatched():
        world.wait(61.0)  # what a dead one had in hand is seen again
        assert asked(world, decision(action, job_id)) == [(done, None)]
        world.settle()
        made = record_of(world.pipeline, job_id).decision
    assert made is not None
    assert (made.state, made.by, made.why) == (done, "jane", "looked at")
    assert bodies("quarantine") == [OTHERS]
    return job_id


def released(world: World) -> None:
    """It is completed once, and paid for once."""
    job_id = decided_twice(world, "release", "released", json.dumps(STRANGER))
    with world.wire.unwatched():
        job = loaded(world.pipeline, job_id)
        assert (job.status, job.replay_count) == (Status.COMPLETED, 1)
        captured = [each for each in world.ledger.entries(PARTNER) if each.captured]
    assert [each.job_id for each in captured] == [job_id]


def discarded(world: World) -> None:
    """It is gone from the table and from the bucket."""
    job_id = decided_twice(world, "discard", "discarded", LONG)
    items = [i for i in world.pipeline.items() if i["pk"]["S"] == f"job#{job_id}"]
    (item,) = (each for each in items if each["sk"]["S"].startswith("quarantine#"))
    assert not item.keys() & {"body", "packed", "s3_key"}
    with world.wire.unwatched():
        left = world.pipeline.s3.list_objects_v2(Bucket="assets", Prefix="quarantine/")
    assert "Contents" not in left


REMINDERS = ["ReceiveMessage", "DeleteMessage", "ReceiveMessage", "ChangeMessageVisibilityBatch"]
CALLS: dict[Story, list[str]] = {
    released: ["GetItem", "Query", "GetItem", "TransactWriteItems", "SendMessage", *REMINDERS],
    discarded: ["GetItem", "Query", "TransactWriteItems", "DeleteObject", *REMINDERS],
}


def operations(world: World, story: Story) -> list[str]:
    """Return what a story calls, in order."""
    return [call.partition("-")[0] for call in clean(world, story).calls]


@pytest.mark.parametrize("story", CALLS, ids=lambda story: story.__name__)
def test_these_are_all_the_calls_of_a_decision(world: World, story: Story) -> None:
    assert operations(world, story) == CALLS[story]


def faults(story: Story, operation: str) -> list[Kind]:
    """Return the faults to try at a call; what is the same in both stories is tried in one."""
    if story is discarded and operation not in {"TransactWriteItems", "DeleteObject"}:
        return []
    if operation in REMINDERS:  # nothing hangs on them
        return [Kind.REFUSED, Kind.DIED, Kind.DIED_BEFORE]
    return [kind for kind in kinds(operation) if (operation, kind) != ("DeleteObject", Kind.BUSY)]


STRUCK = [
    pytest.param(story, number, kind, id=f"{story.__name__}-{number}-{operation}-{kind}")
    for story, calls in CALLS.items()
    for number, operation in enumerate(calls, 1)
    for kind in faults(story, operation)
]


@pytest.mark.parametrize(("story", "number", "kind"), STRUCK)
def test_said_twice_a_decision_is_made_once_whatever_fails(
    world: World, story: Story, number: int, kind: Kind
) -> None:
    struck(world, story, Fault(number, kind))
