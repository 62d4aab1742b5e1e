"""A worker at a model with little to give: it waits a moment for its slot, or comes again."""

from __future__ import annotations

import itertools
from typing import Any

from tests.contract import books
from tests.contract.paces import kept
from tests.contract.test_accept import BODY
from tests.contract.virtual import queue
from tests.contract.world import World
from tests.fakes import answer
from tests.pipeline import catalogue
from tidegate.rules.job import Status
from tidegate.vendors.base import VendorAnswer, VendorCall

MODEL = "chat-mini"
EVERY = 3.0
"""Seconds of a request."""


def begun(world: World, **pace: Any) -> list[float]:
    """Begin with a model that gives a request every three seconds; return when calls are made."""
    world.begin()
    models = catalogue()
    entry = models.models[MODEL]
    limits = {"requests_per_minute": round(60 / EVERY), "burst": 0.0, **pace}
    slow = entry.model_copy(update={"pace": entry.pace.model_copy(update=limits)})
    world.pipeline.models = models.model_copy(update={"models": {**models.models, MODEL: slow}})
    calls: list[float] = []

    def call(_asked: VendorCall) -> VendorAnswer:
        calls.append(world.passed)
        return answer()

    world.vendor.otherwise = call
    return calls


def post(world: World, count: int, priority: str = "normal") -> None:
    for n in range(count):
        message = {"role": "user", "content": f"question {n} {priority}"}
        body = {**BODY, "input": {"messages": [message]}, "priority": priority}
        world.post(body, f"key-{n}-{priority}")


def apart(calls: list[float], seconds: float) -> bool:
    """Return whether no two calls are nearer than that, a busy machine's moments aside."""
    return all(b - a >= seconds / 4 for a, b in itertools.pairwise(calls))


def test_a_near_slot_is_awaited_in_the_worker(deployment: World) -> None:
    calls = begun(deployment, horizon=3.5)
    post(deployment, 4)
    deployment.deliver(MODEL)
    assert len(calls) == 4
    assert apart(calls, EVERY)
    assert not queue(MODEL)._messages


def test_a_far_slot_is_a_deferral_and_every_job_is_done_once(deployment: World) -> None:
    calls = begun(deployment, horizon=2.0)
    post(deployment, 6)
    deployment.deliver(MODEL)
    assert len(calls) == 1
    waiting = [message for message in queue(MODEL)._messages if message.delayed]
    assert len(waiting) == 5
    ends = sorted(message.delayed_until for message in waiting)
    assert ends[-1] - ends[0] >= 6_000, "they come back spread, not all at once"
    jobs = books.jobs(deployment.pipeline)
    assert sorted(job.starts for job in jobs) == [0, 0, 0, 0, 0, 1]
    deployment.settle()
    assert len(calls) == 6
    assert apart(calls, EVERY)
    assert {job.status for job in books.jobs(deployment.pipeline)} == {Status.COMPLETED}


def test_lane_low_has_its_own_queue_and_no_more_than_its_share(deployment: World) -> None:
    calls = begun(deployment, horizon=3.5)
    post(deployment, 2, priority="low")
    post(deployment, 2)
    assert len(queue(f"{MODEL}-low")._messages) == len(queue(MODEL)._messages) == 2
    deployment.deliver(f"{MODEL}-low")
    assert len(calls) == 1  # a quarter: twelve seconds for each
    deployment.deliver(MODEL)
    assert len(calls) == 3
    assert apart(calls, EVERY)
    waiting = queue(f"{MODEL}-low")._messages
    assert len(waiting) == 1
    assert waiting[0].delayed
    deployment.settle()
    assert len(calls) == 4
    assert calls[3] - calls[0] >= 10


def test_everything_that_work_took_is_given_back(deployment: World) -> None:
    begun(deployment, horizon=3.5)
    post(deployment, 3)
    post(deployment, 1, priority="low")
    deployment.settle()
    deployment.wait(60)
    left = {key.partition("}:")[2] for key in kept(deployment.valkey) if "{chat-mini}" in key}
    assert left <= {"pause", "outcomes", "turn", "turn-low"}
