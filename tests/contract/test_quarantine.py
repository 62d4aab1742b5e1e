"""Decisions about answers that failed the gate, where the command does not reach: bad events, no
time, a store in trouble, somebody else.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

import replay.handler
from tests.contract.jobs import EXTRACT, job
from tests.contract.quarantining import (
    STRANGER,
    asked_of,
    decided,
    failed,
    posted,
    record_of,
)
from tests.contract.replaying import doors
from tests.contract.virtual import bodies
from tests.fakes import LambdaContext, answer
from tests.pictures import picture
from tests.pipeline import ROOT, Pipeline
from tidegate.rules.job import MAX_REPLAYS, OPERATOR, Job, Status
from tidegate.rules.quarantine import Decision, Record, refusal
from tidegate.vendors.base import Image

Deploy = Callable[..., Pipeline]
EVENT: dict[str, Any] = json.loads((ROOT / "events" / "quarantine.json").read_text())


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"quarantine": "accept"}, "quarantine"),
        ({"quarantine": None}, "quarantine"),
        ({"job_ids": []}, "job_ids"),
        ({"job_ids": "job_1"}, "job_ids"),
        ({"job_ids": [7]}, "job_ids.0"),
        ({"job_ids": ["chat-mini"]}, "job_ids.0"),
        ({"job_ids": [f"job_{n}" for n in range(101)]}, "job_ids"),
        ({"by": " "}, "by"),
        ({"by": None}, "by"),
        ({"why": ""}, "why"),
        ({"why": "w" * 501}, "why"),
        ({"dry_run": True}, "dry_run"),
        ({"model": "chat-mini"}, "model"),
    ],
)
def test_a_slip_in_the_event_is_named_and_does_nothing(
    change: dict[str, Any], field: str, deploy: Deploy
) -> None:
    said = asked_of(deploy(), {**EVENT, **change})
    assert said["error"]["code"] == "validation_failed"
    assert said["error"]["message"].split(": ")[0] == field


@pytest.fixture
def deployed(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipeline]:
    """A deployment whose settings are in the environment, as the function finds them."""
    made = deploy()
    settings = {
        "TIDEGATE_ENV": "local",
        "JOBS_TABLE": "jobs",
        "LEDGER_TABLE": "ledger",
        "ASSETS_BUCKET": "assets",
        "QUEUE_URL_PREFIX": made.prefix,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    yield made
    replay.handler._replay.cache_clear()


def test_the_event_of_the_repository_is_one_that_the_function_takes(deployed: Pipeline) -> None:
    context: Any = LambdaContext()
    for _ in range(2):  # cold and warm
        said = replay.handler.handler(EVENT, context)
        assert json.loads(json.dumps(said)) == said
        assert said["items"] == [
            {"job_id": each, "result": "refused", "reason": "there is no such record"}
            for each in EVENT["job_ids"]
        ]


def test_with_no_time_left_it_says_so_and_the_same_again_goes_on(deploy: Deploy) -> None:
    pipeline = deploy()
    job_id = failed(pipeline)
    told = decided(pipeline, "discard", job_id, job_id, left=9.0)
    assert told == {job_id: ("failed", "no time was left; ask again")}
    assert record_of(pipeline, job_id).decision is None
    assert decided(pipeline, "discard", job_id) == {job_id: ("discarded", None)}


def test_one_that_fails_does_not_keep_the_others(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = deploy()
    first, second, third = (failed(pipeline) for _ in range(3))
    built = doors(pipeline)
    load = type(built.quarantine.jobs).load

    def unreadable(jobs: Any, job_id: str) -> Any:
        if job_id == second:
            raise ClientError({"Error": {"Code": "InternalServerError"}}, "GetItem")
        return load(jobs, job_id)

    monkeypatch.setattr(type(built.quarantine.jobs), "load", unreadable)
    told = decided(pipeline, "discard", first, second, third)
    assert [result for result, _ in told.values()] == ["discarded", "failed", "discarded"]
    assert [json.loads(body)["job_id"] for body in bodies("quarantine")] == [second]


def test_who_comes_second_is_told_who_was_first(deploy: Deploy) -> None:
    pipeline = deploy()
    job_id = failed(pipeline, STRANGER, request=EXTRACT)
    assert decided(pipeline, "release", job_id) == {job_id: ("released", None)}
    for action in ("release", "discard"):
        assert decided(pipeline, action, job_id, by="joe") == {
            job_id: ("refused", "it was released by jane")
        }
    assert decided(pipeline, "discard", job_id)[job_id][0] == "refused"
    assert len(pipeline.bodies(pipeline.queue_url("risk-report"))) == 1


def test_an_image_that_is_none_has_no_form_to_give(deploy: Deploy) -> None:
    pipeline = deploy()
    pipeline.vendor.script = [answer(None, images=(Image(b"<html>", "image/png"),))]
    none = posted(pipeline, {"model": "image-studio", "input": {"prompt": "a cat"}}, "a")
    pipeline.vendor.script = [answer(None, images=(picture(width=96, height=32),))]
    narrow = posted(pipeline, {"model": "image-studio", "input": {"prompt": "a dog"}}, "b")
    told = decided(pipeline, "release", none, narrow)
    assert told[none][1] == "the answer has no form in which a partner could be given it"
    assert told[narrow] == ("released", None)
    pipeline.deliver("image-studio")
    (shown,) = pipeline.get(f"/v1/jobs/{narrow}/result").json["images"]
    assert (shown["width"], shown["height"]) == (96, 32)


def test_what_was_decided_is_logged_and_counted_and_never_what_was_answered(
    deploy: Deploy, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = deploy()
    released, discarded = failed(pipeline, STRANGER), failed(pipeline)
    doors(pipeline)
    for handler in logging.getLogger("replay").handlers:  # they live as long as the process
        assert isinstance(handler, logging.StreamHandler)
        monkeypatch.setattr(handler, "stream", sys.stdout)
    capsys.readouterr()
    decided(pipeline, "release", released)
    decided(pipeline, "discard", discarded)
    written = capsys.readouterr().out
    lines = [json.loads(line) for line in written.splitlines()]
    for name in ("ReleasedAnswers", "DiscardedAnswers"):
        told = [(each["model"], each[name]) for each in lines if name in each]
        assert told == [("risk-report", [1.0])]
    results = {each["job_id"]: each["result"] for each in lines if "result" in each}
    assert results == {released: "released", discarded: "discarded"}
    assert "9999" not in written


QUARANTINED = replace(job("acme"), status=Status.QUARANTINED, attempt=2)
RECORD = Record("job_1", 2, "acme", "m", "chat", 1.0, (), {}, {}, {})


@pytest.mark.parametrize(
    ("of", "record", "why"),
    [
        (None, RECORD, "there is no such record"),
        (QUARANTINED, None, "there is no such record"),
        (replace(QUARANTINED, partner=OPERATOR), RECORD, "nobody waits for it"),
        (replace(QUARANTINED, status=Status.COMPLETED), RECORD, "its job is completed by now"),
        (replace(QUARANTINED, attempt=3), RECORD, "its job is quarantined by now"),
        (QUARANTINED, replace(RECORD, cut=True), "only its beginning was kept"),
        (replace(QUARANTINED, replay_count=MAX_REPLAYS), RECORD, "re-opened 5 times before"),
        (
            QUARANTINED,
            replace(RECORD, decision=Decision("discarded", "joe", "so", 1.0)),
            "it was discarded by joe",
        ),
    ],
)
def test_what_may_not_be_released(of: Job | None, record: Record | None, why: str) -> None:
    assert why in (refusal(of, record) or "")
    assert refusal(QUARANTINED, RECORD) is None
