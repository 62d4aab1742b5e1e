"""The line of a model on a real Redis: whose job is next, whatever message is at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from moto.core.models import MockAWS

from tests.contract.jobs import job
from tests.contract.paces import LIFE, caller, kept, pace
from tests.contract.test_accept import BODY
from tests.contract.virtual import queue
from tests.contract.world import World, deployed
from tests.pipeline import FUNDS, Pipeline
from tidegate.clock import SystemIds
from tidegate.doors.line import LOOKS, Line
from tidegate.doors.valkey import Valkey
from tidegate.rules.job import Job

CAP = 2


def wait(line: Line, *jobs: Job) -> None:
    for each in jobs:
        line.join(each)


def served(line: Line, asking: Job, times: int) -> list[str]:
    """Return whose jobs are worked on with so many messages about one that waits again after."""
    names = []
    for _ in range(times):
        name = line.turn(asking, CAP)
        names.append(name or asking.id)
        line.join(asking)
    return names


def test_partners_take_turns_and_each_ones_oldest_job_is_next(valkey: Valkey) -> None:
    line = Line(valkey, SystemIds())
    for partner in ("c", "b"):
        wait(line, *(job(partner, f"job_{partner}{n}", at=n + 1.0) for n in (2, 0, 1)))
    asking = job("a", "job_a", at=9.0)
    line.join(asking)
    assert served(line, asking, 9) == [
        "job_a", "job_b0", "job_c0", "job_a", "job_b1", "job_c1", "job_a", "job_b2", "job_c2",
    ]  # fmt: skip
    assert served(line, asking, 2) == ["job_a", "job_a"]


def test_a_partner_that_comes_late_is_next(valkey: Valkey) -> None:
    line = Line(valkey, SystemIds())
    many = [job("acme", f"job_{n}", at=n + 1.0) for n in range(60)]
    wait(line, *many)
    assert line.turn(many[0], CAP) is None
    line.join(job("zebra", "job_z", at=100.0))
    assert line.turn(many[7], CAP) == "job_z"
    assert line.turn(many[8], CAP) is None


@pytest.mark.parametrize(
    "names", [("ab", "ab-c", "ab0"), ("a", "a-a", "a-a-a"), ("x-1", "x-10", "x-1-0"), ("Z", "a")]
)
def test_names_that_begin_alike_are_partners_of_their_own(
    valkey: Valkey, names: tuple[str, ...]
) -> None:
    line = Line(valkey, SystemIds())
    for name in names:
        wait(line, *(job(name, f"job_{name}-{n}", at=n + 1.0) for n in range(3)))
        assert line.waiting(job(name)) == 3
    mine = job(names[0], f"job_{names[0]}-0", at=1.0)
    turns = Counter(each.rpartition("-")[0] for each in served(line, mine, 3 * len(names)))
    assert turns == {f"job_{name}": 3 for name in names}


def test_an_empty_line_is_the_askers_own(valkey: Valkey) -> None:
    line = Line(valkey, SystemIds())
    assert line.turn(job("acme"), CAP) is None
    assert set(kept(valkey)) == {"tg:{m}:turn"}
    assert line.waiting(job("acme")) == 0


def test_a_partner_at_its_cap_stands_behind_those_with_fewer_calls(valkey: Valkey) -> None:
    line, model = Line(valkey, SystemIds()), pace(valkey, 8)
    for n in range(CAP):
        assert model.take(caller(f"b{n}", partner="b"), LIFE, 0).granted
    wait(line, job("b", "job_b"), job("c", "job_c"))
    assert line.turn(job("a", "job_a"), CAP) is None
    assert line.turn(job("b", "job_b9"), CAP) == "job_c"


def test_the_cap_is_lent_while_nobody_else_could_use_it(valkey: Valkey) -> None:
    line, model = Line(valkey, SystemIds()), pace(valkey, 8)
    for partner in ("a", "b"):
        for n in range(CAP):
            assert model.take(caller(f"{partner}{n}", partner=partner), LIFE, 0).granted
    assert line.turn(job("a", "job_a"), CAP) is None  # alone
    wait(line, job("b", "job_b"))
    assert line.turn(job("a", "job_a"), CAP) is None  # b is at its cap too
    model.give_back(caller("b0", partner="b"))
    assert line.turn(job("a", "job_a"), CAP) == "job_b"


@pytest.mark.parametrize(("full", "found"), [(LOOKS - 2, True), (LOOKS + 8, False)])
def test_no_more_partners_are_looked_at_than_may(valkey: Valkey, full: int, found: bool) -> None:
    line, model = Line(valkey, SystemIds()), pace(valkey, 2 * LOOKS)
    for n in range(full):
        assert model.take(caller(f"r{n}", partner=f"p{n:02}"), LIFE, 0).granted
        line.join(job(f"p{n:02}", f"job_{n}"))
    line.join(job("q", "job_q"))
    asking = job("p00", "job_0")
    assert line.turn(asking, 1) == ("job_q" if found else None)


def test_lanes_have_lines_of_their_own(valkey: Valkey) -> None:
    line = Line(valkey, SystemIds())
    wait(line, job("b", "job_low", lane="low"))
    assert line.turn(job("a", "job_a"), CAP) is None
    assert line.turn(job("z", "job_z", lane="low"), CAP) == "job_low"


def test_a_job_that_leaves_waits_no_more(valkey: Valkey) -> None:
    line = Line(valkey, SystemIds())
    wait(line, job("acme", "job_1"), job("acme", "job_2"))
    line.leave(job("acme", "job_1"))
    line.leave(job("acme", "job_1"))
    assert line.waiting(job("acme")) == 1


def test_who_joins_is_told_how_many_are_before_it(valkey: Valkey) -> None:
    line = Line(valkey, SystemIds())
    places = [line.join(job("acme", f"job_{n}", at=n + 1.0)) for n in range(4)]
    assert places == [0, 1, 2, 3]
    assert line.join(job("acme", "job_1", at=2.0)) == 1  # there already
    # Turns: each of its own before it comes with one of the other's.
    assert [line.join(job("b", f"job_{n}", at=n + 1.0)) for n in range(4)] == [0, 3, 4, 6]


@pytest.fixture(scope="module")
def world(_moto: MockAWS, redis_single: str) -> Iterator[World]:
    with deployed(_moto, redis_single) as made:
        yield made


def begun(world: World) -> Pipeline:
    """Begin anew with a second partner that has credits."""
    world.begin()
    world.ledger.credit("umbrella", "funds", FUNDS, world.clock.now())
    return world.pipeline


def asked(n: int, priority: str = "normal") -> dict[str, object]:
    message = {"role": "user", "content": f"question {n}"}
    return {**BODY, "input": {"messages": [message]}, "priority": priority}


@pytest.mark.parametrize(("priority", "many"), [("normal", 24), ("low", 12)])
def test_a_partner_with_one_job_is_next_behind_all_of_another_ones(
    world: World, priority: str, many: int
) -> None:
    pipeline = begun(world)
    name = "chat-mini" if priority == "normal" else "chat-mini-low"
    ids = [pipeline.post(asked(n, priority), f"k{n}").json["id"] for n in range(many)]
    world.clock.time += 0.01
    assert pipeline.deliver(name, most=1) == 1  # the first of them has its turn
    ids.append(pipeline.post(asked(many, priority), "only", partner="umbrella").json["id"])
    world.clock.time += 0.01
    assert pipeline.deliver(name, most=1) == 1  # a message of acme's, and there are many more
    assert pipeline.get(f"/v1/jobs/{ids[-1]}", "umbrella").json["status"] == "completed"

    world.settle()
    calls = [call.idempotency_key.partition(".")[0] for call in world.vendor.calls]
    assert calls[1] == ids[-1]
    assert Counter(calls) == dict.fromkeys(ids, 1)  # each was made once
    statuses = {pipeline.get(f"/v1/jobs/{each}").json["status"] for each in ids[:-1]}
    assert statuses == {"completed"}
    assert not queue(name)._messages
    left = kept(world.valkey)
    assert not [key for key in left if "}:line" in key]


def test_a_job_that_was_cancelled_loses_only_its_turn(world: World) -> None:
    pipeline = begun(world)
    mine = pipeline.post(asked(0), "mine").json["id"]
    pipeline.deliver("chat-mini", most=1)
    mine = pipeline.post(asked(1), "next").json["id"]
    gone = pipeline.post(asked(2), "gone", partner="umbrella").json["id"]
    other = pipeline.post(asked(3), "other", partner="umbrella").json["id"]
    assert pipeline.send("POST", f"/v1/jobs/{gone}/cancel", partner="umbrella").status == 200
    world.settle()
    called = [call.idempotency_key.partition(".")[0] for call in world.vendor.calls[1:]]
    assert sorted(called) == sorted([mine, other])
    assert not [key for key in kept(world.valkey) if "}:line" in key]
