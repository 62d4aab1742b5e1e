"""What answers refer to is lost, out of reach or throttled: nobody pays, nobody is quarantined.

Around the explorer's doors in memory, with the set in moto's DynamoDB or in a real PostgreSQL.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator

import boto3
import pytest
from moto.core.models import MockAWS

from tests.cloud import REGION, load_accounts
from tests.contract import books, postgres
from tests.contract.jobs import EXTRACT, REPORT
from tests.contract.postgres import Postgres
from tests.contract.postgres_sets import Secret
from tests.contract.referring import Library, library
from tests.contract.report_desk import MISSING, MODEL, ROUNDS, UNAVAILABLE, Desk, Mend
from tests.contract.set_troubles import TROUBLES, Trouble, load, lost
from tests.contract.world import PARTNER, STEP, World
from tests.fakes import FakeIds, answer
from tests.pipeline import FUNDS
from tidegate.clock import Clock
from tidegate.doors.dynamo import Table
from tidegate.doors.postgres import PostgresServer
from tidegate.doors.references import READY, Source
from tidegate.doors.references_dynamodb import DynamoSource
from tidegate.doors.references_postgres import PostgresSource
from tidegate.flows.finish import REFERENCES_DELAY
from tidegate.rules.contracts import ReferenceSource
from tidegate.vendors.base import VendorAnswer, VendorCall

NUMBERS = itertools.count()
DEADLINE = 300


@pytest.fixture
def shelf(_moto: MockAWS) -> Library:
    made = library(f"waited-for-{next(NUMBERS)}")
    load(made)
    return made


@pytest.fixture
def desk(shelf: Library) -> Desk:
    def sources(clock: Clock) -> dict[str, Source]:
        table = Table(shelf.client, shelf.name, clock, FakeIds(0.5))
        return {"accounts": DynamoSource(table, "accounts", clock)}

    return Desk(sources)


@TROUBLES
def test_nobody_pays_for_an_answer_that_could_not_be_judged(
    desk: Desk, shelf: Library, trouble: Trouble, code: str
) -> None:
    mend = trouble(shelf)
    desk.post()
    desk.assert_waits()
    assert (desk.calls, desk.told()) == (0, ("queued", None))
    assert desk.memory.telemetry.counts["ReferencesUnavailable"] == ROUNDS
    mend()
    desk.assert_completed()


@TROUBLES
def test_an_answer_that_cannot_be_judged_waits_for_it_and_is_asked_for_once(
    desk: Desk, shelf: Library, trouble: Trouble, code: str
) -> None:
    mends: list[Mend] = []
    desk.meanwhile = lambda: mends.append(trouble(shelf))
    desk.post()
    for _ in range(ROUNDS):
        desk.assert_waits(1)
        assert desk.told() == ("retrying", code)
        job = desk.job
        assert (job.starts, job.bad_answers, job.owner, desk.calls) == (1, 0, None, 1)
        assert desk.memory.kept(job).keys() == {"status", "input", f"job#{job.partner}", "stage"}
    assert desk.memory.telemetry.counts["ReferencesUnavailable"] == ROUNDS
    mends.pop()()
    desk.assert_completed()


def test_a_bad_reference_is_found_once_it_can_be_looked_up(desk: Desk, shelf: Library) -> None:
    mends: list[Mend] = []
    desk.report["account_id"] = 8
    desk.meanwhile = lambda: mends.append(lost(shelf))
    desk.post()
    desk.assert_waits()
    mends.pop()()
    desk.memory.work(MODEL)
    assert (desk.told(), desk.calls) == (("quarantined", "reference_unknown"), 1)
    assert desk.balance() == (FUNDS, 0)
    assert len(desk.memory.bodies("quarantine")) == 1


def test_what_fails_anyway_waits_for_no_reference(desk: Desk, shelf: Library) -> None:
    desk.report["risk_level"] = "SEVERE"
    desk.meanwhile = lambda: void(lost(shelf))
    desk.post()
    desk.memory.deliver(MODEL)
    assert (desk.told(), desk.calls) == (("quarantined", "schema"), 1)
    assert desk.memory.telemetry.counts["ReferencesUnavailable"] == 0


def void(_value: object) -> None:
    """Return nothing."""


@TROUBLES
def test_what_never_comes_back_ends_a_job_at_its_deadline_unpaid(
    desk: Desk, shelf: Library, trouble: Trouble, code: str
) -> None:
    trouble(shelf)
    desk.post(deadline_seconds=DEADLINE)
    begun = desk.memory.clock.now()
    desk.memory.work(MODEL)
    assert (desk.told(), desk.calls) == (("expired", "deadline_exceeded"), 0)
    assert desk.balance() == (FUNDS, 0)
    assert DEADLINE <= desk.memory.clock.now() - begun <= DEADLINE + 2 * REFERENCES_DELAY


def test_an_answer_that_nobody_could_judge_in_time_is_given_to_nobody(
    desk: Desk, shelf: Library
) -> None:
    desk.meanwhile = lambda: void(lost(shelf))
    desk.post(deadline_seconds=DEADLINE)
    desk.memory.work(MODEL)
    assert (desk.told(), desk.calls) == (("failed", "deadline_exceeded"), 1)
    assert desk.balance() == (FUNDS, 0)
    assert desk.memory.bodies("quarantine") == []
    assert [copy["job_id"] for copy in desk.memory.bodies(f"{MODEL}-dlq")] == [desk.job.id]
    assert not {"output", "answer", "result"} & desk.memory.kept(desk.job).keys()


def test_a_staged_answer_that_redis_lost_is_asked_for_again_and_paid_once(
    desk: Desk, shelf: Library
) -> None:
    mends: list[Mend] = []
    desk.meanwhile = lambda: mends.append(lost(shelf))
    desk.post()
    desk.assert_waits()
    desk.memory.redis.wipe()
    desk.memory.clock.sleep(READY)
    desk.assert_waits()
    assert desk.calls == 1, "nobody asks again for what cannot be judged either"
    mends.pop()()
    desk.meanwhile = lambda: None
    desk.memory.work(MODEL)
    assert (desk.told(), desk.calls, desk.job.starts) == (("completed", None), 2, 2)
    assert desk.balance() == (FUNDS - desk.job.charged, 0)


def test_models_without_references_go_on(desk: Desk, shelf: Library) -> None:
    lost(shelf)
    said = {"messages": [{"role": "user", "content": "Hello"}]}
    desk.memory.post({"model": "chat-mini", "input": said})
    desk.memory.work("chat-mini")
    assert desk.told() == ("completed", None)


def test_the_wait_is_the_same_over_real_stores(world: World) -> None:
    """The staged answer outlives it in Redis, and what is known of the job in DynamoDB."""
    mends: list[Mend] = []
    client = boto3.client("dynamodb", region_name=REGION)
    table = Library(client, "references", world.clock)

    def call(_asked: VendorCall) -> VendorAnswer:
        mends.append(lost(table))
        return answer(json.dumps(REPORT))

    world.vendor.otherwise = call
    job_id = world.post(EXTRACT, "a").json["id"]
    try:
        for _ in range(20):
            world.deliver(MODEL)
            world.wait(STEP)
            told = world.ask("GET", f"/v1/jobs/{job_id}").json
            assert (told["status"], told["error"]["code"]) == ("retrying", MISSING)
    finally:
        load_accounts(client)
    world.settle()
    assert world.ask("GET", f"/v1/jobs/{job_id}/result").json == {"data": REPORT}
    assert len(world.vendor.calls) == 1
    assert books.check(world.pipeline)[PARTNER]["reserved"] == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres.running() as running:
        running.run("CREATE TABLE accounts (id bigint PRIMARY KEY)")
        running.run("INSERT INTO accounts VALUES (1), (7)")
        yield running


def stopped(server: Postgres) -> Mend:
    server.stop()
    return server.start


def truncated(server: Postgres) -> Mend:
    server.run("TRUNCATE accounts")
    return lambda: server.run("INSERT INTO accounts VALUES (1), (7)")


@pytest.mark.parametrize(
    ("trouble", "code"), [(stopped, UNAVAILABLE), (truncated, MISSING)], ids=["stopped", "empty"]
)
def test_a_postgresql_that_is_gone_is_waited_for_before_a_call_and_after_one(
    server: Postgres, trouble: Callable[[Postgres], Mend], code: str
) -> None:
    connection = PostgresServer(Secret(server.url()))
    there = ReferenceSource(source="postgresql", table="accounts", column="id", type="bigint")
    mend = trouble(server)
    desk = Desk(lambda _clock: {"accounts": PostgresSource(connection, "accounts", there)})
    desk.post()
    desk.assert_waits()
    assert (desk.calls, desk.told()) == (0, ("queued", None))
    mend()
    mends: list[Mend] = []
    desk.meanwhile = lambda: mends.append(trouble(server))
    desk.deliver()
    desk.assert_waits()
    assert (desk.calls, desk.told()) == (1, ("retrying", code))
    mends.pop()()
    desk.assert_completed()
    connection.close()
