"""A vendor that fails: the circuit breaker opens for the fleet, and jobs that have time wait."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.contract.waiting import MODEL, job, metrics, posted, throttled, turned
from tests.contract.world import World
from tests.fakes import answer
from tidegate.doors.pace import REFUSALS
from tidegate.errors import (
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorTimeout,
    VendorUnreachable,
)
from tidegate.rules.job import Status
from tidegate.rules.pacing import Breaker
from tidegate.vendors.base import VendorAnswer, VendorCall

BREAKER = Breaker()
JOBS = 10

OUTAGES: dict[str, Callable[[], VendorError]] = {
    "500": lambda: VendorFailed("the vendor answered 500", vendor_status=500),
    "529": lambda: VendorFailed("the vendor answered 529", vendor_status=529),
    "timeout": lambda: VendorTimeout("the vendor did not answer in time"),
    "dropped": lambda: VendorUnreachable("the connection to the vendor failed"),
    "429": throttled,
}


def failing_until(world: World, end: float, error: Callable[[], VendorError]) -> None:
    """Let the vendor fail for `end` seconds, and be well then."""
    until = world.clock.now() + end

    def called(_call: VendorCall) -> VendorAnswer:
        if world.clock.now() < until:
            raise error()
        return answer()

    world.vendor.otherwise = called


def work_for(world: World, seconds: float) -> None:
    """Let workers work for so long."""
    end = world.clock.now() + seconds
    while world.clock.now() < end:
        while world.deliver(MODEL):
            pass
        world.wait(1)


@pytest.mark.parametrize(("kind", "seconds"), [*((kind, 20) for kind in OUTAGES), ("500", 300)])
def test_an_outage_costs_a_handful_of_calls_and_no_job(
    world: World, kind: str, seconds: float
) -> None:
    ids = [posted(world, n) for n in range(JOBS)]
    failing_until(world, seconds, OUTAGES[kind])
    work_for(world, seconds)
    during = len(world.vendor.calls)
    assert during <= BREAKER.failures + 9  # 2 + 4 + 8 + 16 + 32 + 64 + 120 s
    work_for(world, seconds + 30)  # the last pause is as long as all before it
    jobs = [job(world, each) for each in ids]
    assert {each.status for each in jobs} == {Status.COMPLETED}
    assert len(world.vendor.calls) == during + JOBS
    burnt = sum(each.bad_answers for each in jobs)
    assert burnt == (0 if kind == "429" else BREAKER.failures - 1)
    assert len({call.idempotency_key for call in world.vendor.calls}) == during + JOBS


def test_the_breaker_tells_who_looks_and_one_probe_closes_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.vendor.script = [OUTAGES["500"]() for _ in range(BREAKER.failures + 2)]
    ids = [posted(world, n) for n in range(8)]
    for _ in range(BREAKER.failures):
        world.pipeline.deliver(MODEL, most=1)
    assert metrics(capsys)["BreakerOpened"] == [1]
    shown = turned(world, {"switch": "show"})["cool_down"]
    assert (shown["reason"], shown["in_a_row"], shown["rate"]) == ("failing", 1, 1)
    world.pipeline.deliver(MODEL, most=1)  # it waits for the pause to end, and tries
    assert len(world.vendor.calls) == BREAKER.failures + 1
    assert turned(world, {"switch": "show"})["cool_down"]["in_a_row"] == 2
    world.wait(1)
    world.pipeline.deliver(MODEL, most=1)  # 4 s are longer than it waits
    told = metrics(capsys)
    assert (told["Deferrals"], told["reason"]) == ([1], "failing")
    assert len(world.vendor.calls) == BREAKER.failures + 1
    world.settle()
    assert turned(world, {"switch": "show"})["cool_down"]["in_a_row"] == 0
    assert {job(world, each).status for each in ids} == {Status.COMPLETED}


def test_a_job_that_always_fails_is_dead_lettered_and_holds_nobody_up(world: World) -> None:
    poison = posted(world, 0)

    def called(call: VendorCall) -> VendorAnswer:
        if call.idempotency_key.startswith(poison):
            raise OUTAGES["500"]()
        return answer()

    world.vendor.otherwise = called
    policy = world.pipeline.models.models[MODEL].retry
    others = []
    for n in range(1, 200):
        others.append(posted(world, n))
        work_for(world, 1)
        assert job(world, others[-1]).status is Status.COMPLETED
        if job(world, poison).done:
            break
    ended = job(world, poison)
    assert (ended.status, ended.bad_answers) == (Status.DEAD_LETTERED, policy.attempts)


def test_retries_wait_longer_each_time(world: World) -> None:
    world.ids._fraction = 0.5  # no jitter
    begun: list[float] = []

    def called(_call: VendorCall) -> VendorAnswer:
        begun.append(world.clock.now())
        raise OUTAGES["500"]()

    world.vendor.otherwise = called
    only = posted(world)
    while not job(world, only).done:
        work_for(world, 1)
    waits = [later - earlier for earlier, later in pairwise(begun)]
    policy = world.pipeline.models.models[MODEL].retry
    wanted = [min(policy.cap, policy.base * 2**n) for n in range(policy.attempts - 1)]
    assert waits == [pytest.approx(each, abs=1.5) for each in wanted]


@pytest.mark.parametrize(
    "error",
    [
        VendorFailed("the vendor answered 409", vendor_status=409),
        VendorFailed("the vendor's answer is not JSON", vendor_status=200),
    ],
)
def test_what_is_no_outage_opens_nothing(world: World, error: VendorError) -> None:
    world.vendor.script = [error] * 8
    for n in range(8):
        posted(world, n)
    assert world.pipeline.deliver(MODEL, most=8) == 8
    assert len(world.vendor.calls) == 8


def test_a_call_that_ends_with_its_jobs_deadline_is_not_the_vendors_failure(world: World) -> None:
    ids = [posted(world, n, deadline_seconds=30) for n in range(8)]
    healthy = posted(world, 9)
    world.wait(28)

    def slow(call: VendorCall) -> VendorAnswer:
        if any(call.idempotency_key.startswith(each) for each in ids):
            world.clock.time = max(world.clock.time, job(world, ids[0]).deadline_at)
            raise OUTAGES["timeout"]()
        return answer()

    world.vendor.otherwise = slow
    world.settle()
    assert job(world, healthy).status is Status.COMPLETED
    assert turned(world, {"switch": "show"})["cool_down"]["seconds"] == 0


def refused(known: bool) -> VendorRefused:
    return VendorRefused("the vendor answered 400", vendor_status=400, known=known)


def test_many_refusals_that_nobody_understands_pause_the_model_and_ring(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.vendor.otherwise = lambda _call: (_ for _ in ()).throw(refused(known=False))
    ids = [posted(world, n) for n in range(20)]
    work_for(world, 30)
    assert len(world.vendor.calls) == REFUSALS.failures
    assert metrics(capsys)["VendorAccountRefused"] == [1]
    states = [job(world, each).status for each in ids]
    assert states.count(Status.FAILED) == REFUSALS.failures
    assert states.count(Status.QUEUED) == 20 - REFUSALS.failures

    world.vendor.otherwise = lambda _call: answer()
    world.settle()
    assert [job(world, each).status for each in ids].count(Status.COMPLETED) == 10


@pytest.mark.parametrize("known", [True, False])
def test_refusals_that_are_understood_or_broken_by_an_answer_pause_nobody(
    world: World, known: bool
) -> None:
    errors: list[VendorAnswer | Exception] = [refused(known)] * 20
    if not known:
        errors[9:9] = [answer()]
    world.vendor.script = errors[:19]
    for n in range(19):
        posted(world, n)
    work_for(world, 10)
    assert len(world.vendor.calls) == 19
    assert turned(world, {"switch": "show"})["cool_down"]["seconds"] == 0


def test_an_operator_who_resumes_a_model_closes_its_breaker(world: World) -> None:
    world.vendor.script = [OUTAGES["dropped"]() for _ in range(BREAKER.failures)]
    ids = [posted(world, n) for n in range(7)]
    for _ in range(BREAKER.failures):
        world.pipeline.deliver(MODEL, most=1)
    turned(world, {"switch": "resume", "by": "me"})
    assert turned(world, {"switch": "show"})["cool_down"]["seconds"] == 0
    world.deliver(MODEL)
    assert len(world.vendor.calls) >= BREAKER.failures + 2
    world.settle()
    assert {job(world, each).status for each in ids} == {Status.COMPLETED}
