"""Which dead letters are meant, how fast and how many; what is asked wrongly does nothing."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

import replay.handler
from cli.local import redis
from tests.contract.jobs import loaded
from tests.contract.replaying import (
    MODEL,
    bodies,
    dead_letters,
    doors,
    replayed,
    results,
    run,
    work,
)
from tests.fakes import LambdaContext
from tests.pipeline import ROOT, Pipeline, catalogue
from tidegate.doors.queue import body_of
from tidegate.errors import VendorRefused
from tidegate.rules.job import Status
from tidegate.telemetry import Telemetry


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: dead letters are the same over either kind."""
    redis.flush(redis_single)
    return redis_single


@pytest.fixture
def mixed(pipeline: Pipeline) -> dict[str, str]:
    """Ids of three ended jobs: of two partners, by two errors."""
    (acme,) = dead_letters(pipeline, 1)
    (globex,) = dead_letters(pipeline, 1, "globex")
    (refused,) = dead_letters(pipeline, 1, "umbrella")
    replayed(pipeline, job_ids=[refused])
    pipeline.vendor.script = [VendorRefused("400", vendor_status=400)]
    work(pipeline)
    return {"acme": acme, "globex": globex, "refused": refused}


def test_a_filter_means_what_is_known_of_the_jobs(
    pipeline: Pipeline, mixed: dict[str, str]
) -> None:
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"acme", "globex", "refused"}),
        ({"partner": "globex"}, {"globex"}),
        ({"code": "vendor_refused"}, {"refused"}),
        ({"status": "dead_lettered"}, {"acme", "globex"}),
        ({"status": "failed", "partner": "acme"}, set()),
        ({"older_than_seconds": 60}, {"acme", "globex", "refused"}),
        ({"older_than_seconds": 10**9}, set()),
    ]
    for wanted, expected in cases:
        answer = run(pipeline, {"action": "list", "filter": wanted})
        assert {item["job_id"] for item in answer["items"]} == {mixed[name] for name in expected}
        assert (answer["looked_at"], answer["selected"]) == (3, len(expected))
        time.sleep(0.002)  # moto shows a message again in the millisecond after its release


def test_a_list_says_why_each_is_here(pipeline: Pipeline, mixed: dict[str, str]) -> None:
    pipeline.sqs.send_message(QueueUrl=pipeline.dlq_url(MODEL), MessageBody="[" * 10_000)
    by_job = {i["job_id"]: i for i in run(pipeline, {"action": "list"})["items"]}
    refused, foreign = by_job[mixed["refused"]], by_job[None]
    assert (refused["code"], refused["reason"]) == ("vendor_refused", "vendor_refused")
    assert (foreign["partner"], foreign["status"], foreign["reason"]) == (None, None, None)
    assert foreign["message_id"]
    assert refused["sent_at"].endswith("Z")


def test_a_replay_by_status_also_tidies_up_what_an_interrupted_one_left(
    pipeline: Pipeline,
) -> None:
    (job_id,) = dead_letters(pipeline, 1)
    replayed(pipeline)
    pipeline.sqs.send_message(QueueUrl=pipeline.dlq_url(MODEL), MessageBody=body_of(job_id))
    wanted = {"status": "dead_lettered", "code": "vendor_failed"}
    assert results(replayed(pipeline, filter=wanted)) == ["sent_again"]
    assert bodies(pipeline) == []


def test_jobs_go_out_at_the_rate_that_was_asked_for(pipeline: Pipeline) -> None:
    dead_letters(pipeline, 4)
    begun = pipeline.clock.now()
    assert results(replayed(pipeline, rate_per_second=0.5)) == ["replayed"] * 4
    assert pipeline.clock.now() - begun == pytest.approx(6)


def test_no_more_than_the_limit_and_the_rest_stays_in_sight(pipeline: Pipeline) -> None:
    dead_letters(pipeline, 3)
    answer = replayed(pipeline, limit=2)
    assert (results(answer), answer["more"]) == (["replayed", "replayed"], True)
    assert len(pipeline.bodies(pipeline.dlq_url(MODEL))) == 1
    answer = replayed(pipeline, limit=1)
    assert (results(answer), answer["more"]) == (["replayed"], False)


def test_it_stops_while_there_is_time_left_to_say_so(pipeline: Pipeline) -> None:
    dead_letters(pipeline, 2)
    answer = run(pipeline, {"action": "replay", "dry_run": False}, left=10.1)
    assert (answer["items"], answer["more"]) == ([], True)
    assert len(pipeline.bodies(pipeline.dlq_url(MODEL))) == 2


def test_what_came_after_the_beginning_is_left_alone(pipeline: Pipeline) -> None:
    """A vendor that is still broken must not have one run use up every replay of its jobs."""
    (job_id,) = dead_letters(pipeline, 1)
    answer = replayed(pipeline, before=1_000_000_000.0)
    assert (answer["items"], answer["looked_at"], answer["more"]) == ([], 1, False)
    assert loaded(pipeline, job_id).status is Status.DEAD_LETTERED


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {"action": "replay"},
        {"action": "redo", "model": MODEL},
        {"action": "replay", "model": "no-such-model"},
        {"action": "replay", "model": MODEL, "job_ids": []},
        {"action": "replay", "model": MODEL, "job_ids": "job_1"},
        {"action": "replay", "model": MODEL, "job_ids": ["1"]},
        {"action": "replay", "model": MODEL, "message_ids": []},
        {"action": "replay", "model": MODEL, "job_ids": ["job_1"], "filter": {"partner": "acme"}},
        {"action": "replay", "model": MODEL, "dry_run": "no"},
        {"action": "replay", "model": MODEL, "dryRun": True},
        {"action": "replay", "model": MODEL, "filter": {"status": "dead"}},
        {"action": "replay", "model": MODEL, "filter": {"model": "chat-mini"}},
        {"action": "replay", "model": MODEL, "rate_per_second": 0},
        {"action": "replay", "model": MODEL, "rate_per_second": float("nan")},
        {"action": "replay", "model": MODEL, "limit": 0},
    ],
)
def test_what_is_asked_wrongly_is_answered_and_does_nothing(wrong: Any) -> None:
    class NoDoors:
        telemetry = Telemetry("replay", "local")

    class NoOperator:
        replay = NoDoors()

    doors: Any = NoOperator()
    context: Any = LambdaContext()
    answer = replay.handler.handle(wrong, context, doors, catalogue())
    assert answer.keys() == {"error"}
    assert answer["error"]["code"] in {"validation_failed", "unknown_model"}
    assert answer["error"]["message"]


@pytest.fixture
def deployed(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipeline]:
    """A pipeline whose settings are in the environment, as a deployment puts them there."""
    settings = {
        "TIDEGATE_ENV": "local",
        "JOBS_TABLE": "jobs",
        "LEDGER_TABLE": "ledger",
        "ASSETS_BUCKET": "assets",
        "QUEUE_URL_PREFIX": pipeline.prefix,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(replay.handler, "SystemClock", lambda: pipeline.clock)
    yield pipeline
    replay.handler._replay.cache_clear()


def test_the_event_of_the_repository_is_a_dry_run(deployed: Pipeline) -> None:
    dead_letters(deployed, 1)
    event = json.loads((ROOT / "events" / "replay.json").read_text())
    context: Any = LambdaContext()
    for _ in range(2):  # cold and warm
        answer = replay.handler.handler(event, context)
        assert (answer["dry_run"], results(answer)) == (True, ["would_replay"])
        assert json.loads(json.dumps(answer)) == answer
    assert len(bodies(deployed)) == 1


def test_it_tells_counts_by_model_and_never_what_was_asked(
    pipeline: Pipeline,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = dead_letters(pipeline, 2)
    doors(pipeline)
    for handler in logging.getLogger("replay").handlers:  # they live as long as the process
        assert isinstance(handler, logging.StreamHandler)
        monkeypatch.setattr(handler, "stream", sys.stdout)
    capsys.readouterr()
    replayed(pipeline, job_ids=[first])
    run(pipeline, {"action": "discard", "job_ids": [second]})
    written = capsys.readouterr().out
    lines = [json.loads(line) for line in written.splitlines()]
    for name in ("Replayed", "Discarded"):
        assert [(each["model"], each[name]) for each in lines if name in each] == [(MODEL, [1.0])]
    told = {each["job_id"]: each["result"] for each in lines if "result" in each}
    assert told == {first: "replayed", second: "discarded"}
    assert "acme-0" not in written
