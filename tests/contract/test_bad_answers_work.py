"""The tables of answers through the shipped adapters, api and worker: what becomes of each.

All of them around doors in memory; those that stores dislike on moto and a real Redis as well.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import boto3
import pytest
from moto.core.models import MockAWS

from cli.local import redis
from tests.contract import books, virtual
from tests.contract.answering import Vendors, asked_for, assert_recorded, assert_unquoted
from tests.contract.in_memory import Memory, there
from tests.explorer.memory_queue import URL
from tests.fakes import FakeClock
from tests.patience import REDIS
from tests.pipeline import FUNDS, REGION, Pipeline, create_tables_and_queues
from tests.unit.answer_cases import MODELS, SETS, Case, models
from tests.unit.bad_answers import BAD
from tests.unit.bad_envelopes import BROKEN, Broken
from tests.unit.good_answers import GOOD
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.rules.job import Job, Status
from tidegate.settings import RedisSettings

PRICE = 1000
"""Micro-credits of a job that is answered."""

DISLIKED = [
    case
    for case in BAD
    if case.code == "bad_text"
    or case.name in {"too long and cut off", "objects that close", "nothing cut off", "a page"}
]
"""By stores: what is no UTF-8, no image, large, or nothing."""


class Stage:
    """A deployment in memory."""

    def __init__(self) -> None:
        self.vendors = Vendors(lambda: self.memory.clock)
        self.memory = Memory(models(), self.vendors, there(SETS))

    def ended(self, cases: Sequence[Case] | Sequence[Broken]) -> dict[str, Job]:
        """Have the cases' jobs worked on; return them by the cases' names."""
        self.memory.begin()
        self.vendors.say(cases)
        ids = {case.name: self.memory.post(asked_for(case)) for case in cases}
        self.work()
        jobs = self.memory.jobs()
        assert len(jobs) == len(cases)
        return {name: jobs[job_id] for name, job_id in ids.items()}

    def work(self) -> None:
        """Let all workers do what there is."""
        for model in MODELS:
            self.memory.work(model)
        trouble = {"MessageFailures", "PoisonMessages", "LostFence", "CacheUnavailable"}
        assert not trouble & self.memory.telemetry.counts.keys()

    def deliver_again(self) -> None:
        """Let the message of each job come once more, as SQS may."""
        queue = self.memory.api.doors.waiting_room.queue
        for job in self.memory.jobs().values():
            queue.send(URL + job.model, job.id, job.partner)
        self.work()

    def balance(self) -> tuple[int, int, int]:
        """Return what acme has available, reserved and captured, in micro-credits."""
        balance = self.memory.ledger.balance("acme")
        return balance.available, balance.reserved, balance.captured


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage()


def test_every_bad_answer_is_quarantined_once_and_costs_nothing(stage: Stage) -> None:
    jobs = stage.ended(BAD)
    stage.deliver_again()
    assert stage.balance() == (FUNDS, 0, 0)
    copies = {copy["job_id"]: copy["reason"] for copy in stage.memory.bodies("quarantine")}
    assert len(copies) == len(stage.memory.bodies("quarantine")) == len(BAD)
    for case in BAD:
        job = jobs[case.name]
        assert job.error is not None
        ended = (job.status, job.error.code, stage.vendors.asked[case.name], copies[job.id])
        assert ended == (Status.QUARANTINED, case.code, 1, case.code), case.name
        kept = stage.memory.kept(job)
        assert kept.keys() == {"status", "input", "quarantine#000001"}, case.name
        assert_recorded(stage.memory.workers[case.model].finish.quarantine, case, job)
        told, status, text = stage.memory.ask("GET", f"/v1/jobs/{job.id}")
        assert (told, status["output"]) == (200, None)
        refused, _, more = stage.memory.ask("GET", f"/v1/jobs/{job.id}/result")
        assert refused == 409
        assert_unquoted(text.replace(case.name, "") + more)


def test_every_broken_envelope_ends_without_an_answer_and_costs_nothing(stage: Stage) -> None:
    jobs = stage.ended(BROKEN)
    assert stage.balance() == (FUNDS, 0, 0)
    assert stage.memory.bodies("quarantine") == []
    for case in BROKEN:
        job = jobs[case.name]
        assert job.error is not None
        for_good = case.error == "vendor_refused"
        status, calls = (Status.FAILED, 1) if for_good else (Status.DEAD_LETTERED, 2)
        ended = (job.status, job.error.code, stage.vendors.asked[case.name])
        assert ended == (status, case.error, calls), case.name
        assert stage.memory.kept(job).keys() == {"status", "input"}, case.name
        assert_unquoted(stage.memory.ask("GET", f"/v1/jobs/{job.id}")[2])
        copies = stage.memory.bodies(f"{case.model}-dlq")
        assert [copy["job_id"] for copy in copies].count(job.id) == 1, case.name


def test_every_good_answer_is_given_and_kept_and_paid(stage: Stage) -> None:
    jobs = stage.ended(GOOD)
    stage.deliver_again()
    assert stage.balance() == (FUNDS - PRICE * len(GOOD), 0, PRICE * len(GOOD))
    for case in GOOD:
        job = jobs[case.name]
        assert (job.status, stage.vendors.asked[case.name]) == (Status.COMPLETED, 1), case.name
        public = set() if case.name == "fewer where they may be" else {"answer", "result"}
        assert stage.memory.kept(job).keys() == {"status", "input", "output", *public}, case.name
        status, output, _ = stage.memory.ask("GET", f"/v1/jobs/{job.id}/result")
        assert status == 200
        if case.images:
            assert len(output["images"]) == len(case.images), case.name
        else:
            assert output == case.judged.output, case.name


@pytest.fixture
def pipeline(_moto: MockAWS, redis_single: str) -> Iterator[Pipeline]:
    """A deployment of the tables' models on moto and a real Redis."""
    _moto.reset()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "client", functools.cache(boto3.client))  # making one takes long
        create_tables_and_queues(models())
        redis.flush(redis_single)
        settings = RedisSettings(redis_single, None, None, REGION)
        door = Valkey(settings, None, SystemClock(), REDIS)
        clock = FakeClock()
        vendors: Any = Vendors(lambda: clock)
        yield Pipeline(door, clock, vendor=vendors, models=models())
        door.close()


def test_what_stores_dislike_is_quarantined_on_real_ones_too(pipeline: Pipeline) -> None:
    vendors: Any = pipeline.vendor
    vendors.say(DISLIKED)
    for number, case in enumerate(DISLIKED):
        virtual.empty_moto()  # it copies its tables at each transaction
        pipeline.ledger.credit("acme", "funds", FUNDS, 0)
        posted = pipeline.post(case.asked, str(number))
        assert posted.status == 202, posted.text
        assert pipeline.deliver(case.model) == 1
        (job,) = books.jobs(pipeline)
        assert job.error is not None
        ended = (job.status, job.error.code, vendors.asked[case.name])
        assert ended == (Status.QUARANTINED, case.code, 1), case.name
        assert_recorded(pipeline.worker(case.model).finish.quarantine, case, job)
        assert not [item for item in pipeline.items() if item["pk"]["S"].startswith("work#")]
        assert pipeline.api.doors.cache.look(job.job_key, 0).result is None
        assert books.check(pipeline)["acme"]["available"] == FUNDS
