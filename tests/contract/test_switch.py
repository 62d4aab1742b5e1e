"""An operator pauses a model and resumes it, through its own worker."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.contract.waiting import MODEL, job, metrics, posted, throttled, turned
from tests.contract.world import World
from tests.pipeline import ROOT
from tidegate.doors.switches import Switch
from tidegate.rules.job import Status

ON: dict[str, Any] = {"switch": "resume", "by": "ana", "why": "it answers again"}
OFF: dict[str, Any] = {"switch": "pause", "seconds": 60, "by": "ana", "why": "maintenance"}


def test_an_operator_pauses_a_model_and_resumes_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    forever = {key: OFF[key] for key in ("switch", "by", "why")}
    said = turned(world, forever)
    assert (said["paused"], said["until"], said["by"], said["why"], said["seen"]) == (
        True, None, "ana", "maintenance", True,
    )  # fmt: skip
    assert metrics(capsys)["to"] == "off"
    waiting = posted(world)
    for _ in range(5):
        world.deliver(MODEL)
        world.wait(100)
    assert world.vendor.calls == []
    assert job(world, waiting).starts == 0
    assert turned(world, {"switch": "show"})["paused"] is True

    assert turned(world, ON)["paused"] is False
    world.settle()
    assert job(world, waiting).status is Status.COMPLETED


def test_a_pause_for_some_seconds_ends_by_itself(world: World) -> None:
    said = turned(world, OFF)
    assert said["until"] == pytest.approx(world.clock.now() + 60)
    waiting = posted(world)
    world.deliver(MODEL)
    world.wait(55)
    world.deliver(MODEL)
    assert world.vendor.calls == []
    world.settle()
    assert job(world, waiting).status is Status.COMPLETED


def test_resuming_ends_a_cool_down_too(world: World) -> None:
    world.vendor.script = [throttled(3000)]
    posted(world, 1)
    world.deliver(MODEL)
    assert turned(world, {"switch": "show"})["cool_down"]["seconds"] > 2900
    assert turned(world, ON)["cool_down"]["seconds"] == 0
    waiting = posted(world, 2)
    world.deliver(MODEL)
    assert job(world, waiting).status is Status.COMPLETED


def test_a_wiped_redis_does_not_undo_an_operators_pause(world: World) -> None:
    turned(world, OFF)
    posted(world)
    world.wipe_redis()
    world.deliver(MODEL)
    assert world.vendor.calls == []


@pytest.mark.parametrize(
    "event",
    [
        {}, {"switch": "stop"}, {"switch": "pause", "seconds": -1}, {"switch": "pause", "for": 60},
        {"switch": "pause", "seconds": "60"}, {"switch": None}, {"by": "ana"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_request_is_an_error_and_turns_nothing(
    world: World, event: dict[str, Any]
) -> None:
    said = turned(world, event)
    assert said["error"]["code"] == "validation_failed"
    assert turned(world, {"switch": "show"})["paused"] is False


def test_the_example_event_is_a_request(world: World) -> None:
    said = turned(world, json.loads((ROOT / "events" / "switch.json").read_text()))
    assert said["paused"] is True


def test_a_turn_that_is_written_late_undoes_no_later_one(world: World) -> None:
    switches, now = world.pipeline.worker(MODEL).pacing.switches, round(world.clock.now())
    later = Switch(True, None, "ana", "maintenance", now)
    for turned_at in (now, now, now - 5):  # said twice, its reply lost; and an older one
        switches.turn(MODEL, replace(later, off=turned_at == now, at=turned_at))
    assert switches.read(MODEL) == later
    switches.turn(MODEL, replace(later, off=False, at=now + 5))
    assert not switches.read(MODEL).off
