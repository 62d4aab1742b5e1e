"""A vendor that asks for patience: all workers wait, and no job pays for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.virtual import queue
from tests.contract.waiting import MODEL, job, metrics, posted, throttled, turned
from tests.contract.world import World
from tests.fakes import answer
from tidegate.doors.queue import MAX_DELAY
from tidegate.errors import VendorAccount
from tidegate.rules.job import Status


def delays(world: World, name: str) -> list[float]:
    """Return the seconds until each message of a queue that was sent to wait is there."""
    untils = [message.delayed_until for message in queue(name)._messages if message.delayed]
    return [until / 1000 - world.clock.now() for until in untils]


def test_a_429_pauses_the_model_for_everybody(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.vendor.script = [throttled(30)]
    first, second, low = posted(world, 1), posted(world, 2), posted(world, 3, priority="low")
    assert world.pipeline.deliver(MODEL, most=1) == 1
    told = metrics(capsys)
    assert (told["Throttled"], told["model"]) == ([1], MODEL)
    world.deliver(MODEL)
    world.deliver(f"{MODEL}-low")
    assert len(world.vendor.calls) == 1
    assert metrics(capsys)["reason"] == "paused"
    for waiting in (second, low):
        kept = job(world, waiting)
        assert (kept.status, kept.starts, kept.attempt) == (Status.QUEUED, 0, 0)
    refused = job(world, first)
    assert (refused.bad_answers, refused.starts, refused.status) == (0, 0, Status.RETRYING)

    world.wait(29)
    world.deliver(MODEL)
    assert len(world.vendor.calls) == 1
    world.settle()
    assert {job(world, each).status for each in (first, second, low)} == {Status.COMPLETED}
    assert len(world.vendor.calls) == 4


def test_another_model_is_not_paused(world: World) -> None:
    world.vendor.script = [throttled(30)]
    posted(world)
    world.deliver(MODEL)
    world.post({"model": "image-studio", "input": {"prompt": "a cat"}}, "image")
    world.deliver("image-studio")
    assert len(world.vendor.calls) == 2


def test_a_deferral_burns_no_receive_and_no_attempt(world: World) -> None:
    """More deferrals than receives until the DLQ, and than starts."""
    world.vendor.script = [throttled(3300)]
    first = posted(world, 1, deadline_seconds=1800)  # too early an end for the vendor's wait
    second = posted(world, 2)
    world.pipeline.deliver(MODEL, most=1)
    hops = []
    for _ in range(54):
        if world.deliver(MODEL):
            hops += delays(world, MODEL)
        world.wait(60)
    assert len(world.vendor.calls) == 1
    assert hops == [
        pytest.approx(each, abs=61) for each in (*[MAX_DELAY] * 3, 3300 - 3 * MAX_DELAY)
    ]
    waiting = job(world, second)
    assert (waiting.status, waiting.starts, waiting.bad_answers) == (Status.QUEUED, 0, 0)
    assert [first in message.body for message in queue(f"{MODEL}-dlq")._messages] == [True]


def test_a_job_whose_deadline_is_before_the_pauses_end_fails_at_once(world: World) -> None:
    world.vendor.script = [throttled(300)]
    first = posted(world, 1, deadline_seconds=100)
    second = posted(world, 2, deadline_seconds=100)
    third = posted(world, 3)
    world.deliver(MODEL)
    begun, never, late = (job(world, each) for each in (first, second, third))
    assert begun.status is Status.FAILED
    assert begun.error
    assert begun.error.code == "vendor_throttled"
    assert never.status is Status.EXPIRED
    assert never.error
    assert never.error.stage == "pace"
    assert (never.starts, late.status) == (0, Status.QUEUED)
    assert world.vendor.calls
    assert len(world.vendor.calls) == 1


def test_after_the_pause_one_call_tries_and_the_others_wait_for_it(world: World) -> None:
    world.vendor.script = [throttled(30)]
    ids = [posted(world, n) for n in range(4)]
    world.pipeline.deliver(MODEL, most=1)
    world.wait(31)
    seen: list[int] = []

    def trying(_call: object) -> Any:
        """Let the other workers have their turn while the first one is at the vendor."""
        world.vendor.otherwise = lambda _call: answer()
        before = len(world.vendor.calls)
        world.deliver(MODEL)
        seen.append(len(world.vendor.calls) - before)
        return answer()

    world.vendor.otherwise = trying
    world.pipeline.deliver(MODEL, most=1)
    assert seen == [0]
    world.settle()
    assert {job(world, each).status for each in ids} == {Status.COMPLETED}


def test_a_vendor_that_refuses_again_is_left_alone_for_twice_as_long(world: World) -> None:
    world.vendor.script = [throttled(), throttled()]
    posted(world)
    world.deliver(MODEL)
    world.wait(2)
    pauses = []
    for _ in range(2):
        found = turned(world, {"switch": "show"})["cool_down"]
        pauses.append((found["in_a_row"], found["rate"]))
        for _ in range(9):
            if world.deliver(MODEL):
                break
            world.wait(1)
    assert [strikes for strikes, _ in pauses] == [1, 2]
    assert pauses[1][1] < pauses[0][1] < 1


def test_an_account_in_trouble_puts_the_job_back_untouched_and_says_so(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.vendor.script = [VendorAccount("the vendor answered 401", vendor_status=401)] * 3
    first, second = posted(world, 1), posted(world, 2)
    world.pipeline.deliver(MODEL, most=1)
    told = metrics(capsys)
    assert (told["VendorAccountRefused"], told["model"]) == ([1], MODEL)
    world.deliver(MODEL)
    assert metrics(capsys)["reason"] == "account"
    assert len(world.vendor.calls) == 1
    refused, other = job(world, first), job(world, second)
    assert (refused.starts, refused.bad_answers, refused.owner) == (0, 0, None)
    assert (other.starts, other.attempt, other.status) == (0, 0, Status.QUEUED)

    world.wait(59)
    world.deliver(MODEL)
    assert len(world.vendor.calls) == 1
    world.settle()
    assert len(world.vendor.calls) == 5  # one tries at a time, until our account is in order
    assert {job(world, each).status for each in (first, second)} == {Status.COMPLETED}
    assert {job(world, each).bad_answers for each in (first, second)} == {0}
