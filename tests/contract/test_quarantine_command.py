"""`tidegate quarantine` on a terminal: what a person is shown, takes along, and decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.jobs import EXTRACT, REPORT, drain, loaded
from tests.contract.quarantining import (
    CHAT,
    GOOD,
    LONG,
    STRANGER,
    WRONG,
    ReplayFunction,
    exported,
    failed,
    objects,
    posted,
    reached,
    record_of,
    tidegate,
)
from tests.contract.replaying import differences
from tests.contract.virtual import bodies
from tests.fakes import answer
from tests.pipeline import Pipeline
from tidegate.doors.actions import unpacked
from tidegate.rules.job import Status

DAY = 86_400


@pytest.fixture
def function() -> ReplayFunction:
    return ReplayFunction()


@pytest.fixture
def pipeline(
    deploy: Callable[..., Pipeline], function: ReplayFunction, monkeypatch: pytest.MonkeyPatch
) -> Pipeline:
    made = deploy()
    reached(made, function, monkeypatch)
    return made


def listed(*words: str) -> list[str]:
    """Return the ids in a list's table, from top to bottom."""
    result = tidegate("list", *words)
    assert result.exit_code == 0, result.output
    rows = [line.split("│")[1].strip() for line in result.output.splitlines() if "│" in line]
    return [row for row in rows if row.startswith("job_")]


def kept(pipeline: Pipeline, job_id: str) -> list[dict[str, Any]]:
    """Return the items of a job's record: itself, and what it is listed by."""
    items = [unpacked(item) for item in pipeline.items()]
    of_job = [i for i in items if i["pk"] == f"job#{job_id}" and i["sk"].startswith("quarantine#")]
    return of_job + [i for i in items if i["pk"].startswith("quarantine#") and job_id in i["sk"]]


def test_a_list_is_the_newest_first_and_narrowed_by_every_filter(pipeline: Pipeline) -> None:
    now = pipeline.clock.time
    pipeline.clock.time = now - 7 * DAY - 1
    old = failed(pipeline)
    pipeline.clock.time = now - 6 * DAY
    first = failed(pipeline, STRANGER)
    pipeline.clock.time = now - 60
    second = failed(pipeline, partner="globex")
    pipeline.clock.time = now
    cut = failed(pipeline, "half an ans", model=CHAT, finish="truncated")
    posted(pipeline, GOOD, "good")

    assert listed() == [cut, second, first]
    reports = ("--model", "risk-report")
    assert listed(*reports, "--days", "8") == [second, first, old]
    assert listed(*reports, "--days", "1") == [second]
    assert listed(*reports) == [second, first]
    assert listed(*reports, "--code", "reference_unknown") == [first]
    assert listed(*reports, "--partner", "globex") == [second]
    assert listed(*reports, "--state", "discarded") == []
    shortened = tidegate("list", "--limit", "2").output
    assert (first in shortened, "The newest 2 of 3" in shortened) == (False, True)
    last = shortened.splitlines()[-1]
    assert last == ("risk-report: 2 (1 schema, 1 reference_unknown); chat-mini: 1 (1 truncated)")

    assert tidegate("discard", first, "--why", "no use").exit_code == 0
    assert listed(*reports) == [second]
    assert listed(*reports, "--state", "discarded") == [first]
    assert listed(*reports, "--state", "all") == [second, first]
    unknown = tidegate("list", "--model", "risk-reprot").output
    assert ("has no model risk-reprot" in unknown, "nothing there" in unknown) == (True, True)


def test_a_record_says_why_and_who_but_neither_prompt_nor_answer_unless_asked(
    pipeline: Pipeline,
) -> None:
    text = json.dumps({**WRONG, "risk_level": "secret\u202e\x9b2J"}, ensure_ascii=False)
    job_id = failed(pipeline, text)
    shown = tidegate("show", job_id)
    assert shown.exit_code == 0
    said = {tuple(line.split(maxsplit=1)) for line in shown.output.splitlines()}
    record, job = record_of(pipeline, job_id), loaded(pipeline, job_id)
    assert {
        ("status", "quarantined"),
        ("attempt", "1"),
        ("prompt.kept_at", f"job#{job_id}/input"),
        ("prompt.fingerprint", job.fingerprint),
        ("made_by.vendor_model", "gpt-4o"),
        ("made_by.answered_by", "m"),
        ("made_by.catalogue", record.made_by["catalogue"]),
        ("correlation.request", job.correlation_id),
        ("correlation.vendor_request", "req_1"),
        ("kept", "whole"),
        ("decision", "none: it is open"),
    } <= said
    reasons = sorted(value.split(":")[0] for name, value in said if name == "reason")
    assert reasons == ["schema /confidence_score", "schema /risk_level"]
    assert ("secret" in shown.output, "work-0" in shown.output) == (False, False)

    raw = tidegate("show", job_id, "--raw").output
    assert "secret" in raw
    assert ("\x9b" in raw, "\u202e" in raw) == (False, False)  # a terminal would obey
    assert "work-0" not in raw
    nobody = tidegate("show", "job_nobody")
    assert (nobody.exit_code, "no record of job_nobody" in nobody.output) == (1, True)


def test_a_released_answer_is_its_partners_alone_paid_for_and_told_of(
    pipeline: Pipeline, function: ReplayFunction
) -> None:
    job_id, other = failed(pipeline, STRANGER, request=EXTRACT), failed(pipeline)
    before = pipeline.ledger.balance("acme")
    done = tidegate("release", job_id, "--why", "opened [red]today[/nonsense]")
    assert (done.exit_code, "1 released" in done.output) == (0, True), done.output
    assert function.events == [
        {
            "quarantine": "release", "job_ids": [job_id], "by": "user/moto",
            "why": "opened [red]today[/nonsense]",
        }
    ]  # fmt: skip
    assert [json.loads(body)["job_id"] for body in bodies("quarantine")] == [other]

    drain(pipeline, "risk-report")
    job = pipeline.get(f"/v1/jobs/{job_id}").json
    assert (job["status"], job["released"]) == ("completed", True)
    assert job["output"] == {"data": STRANGER}
    assert len(pipeline.vendor.calls) == 2
    spent = pipeline.ledger.balance("acme").captured - before.captured
    assert spent == loaded(pipeline, job_id).charged > 0
    assert differences(pipeline) == []
    pipeline.vendor.script = [answer(json.dumps(REPORT))]
    anew = posted(pipeline, EXTRACT, "another-key")
    assert pipeline.get(f"/v1/jobs/{anew}/result").json == {"data": REPORT}
    assert len(pipeline.vendor.calls) == 3

    shown = tidegate("show", job_id).output
    assert "released by user/moto" in shown
    assert "opened [red]today[/nonsense]" in shown
    assert "completed" in shown
    (line,) = exported("--state", "released")
    assert json.loads(line["answer"]) == STRANGER
    again = tidegate("release", job_id, "--why", "opened [red]today[/nonsense]")
    assert again.exit_code == 0  # by whoever heard nothing
    assert pipeline.ledger.balance("acme").reserved == 0
    other_words = tidegate("discard", job_id, "--why", "no use")
    assert (other_words.exit_code, "it was released by" in other_words.output) == (1, True)


def test_a_discarded_answer_is_gone_and_who_wanted_it_so_is_not(pipeline: Pipeline) -> None:
    large = failed(pipeline, LONG, model=CHAT, finish="truncated")
    small = failed(pipeline)
    for item in kept(pipeline, large) + kept(pipeline, small):
        assert item["expires_at"] == int(record_of(pipeline, large).at) + 30 * DAY
    cut, whole = exported("--model", CHAT)[0], exported("--model", "risk-report")[0]
    assert (cut["cut"], cut["answer"]) == (True, LONG[:1_000_000])
    assert (whole["cut"], json.loads(whole["answer"])) == (False, WRONG)
    assert "its beginning" in tidegate("show", large).output
    assert objects(pipeline) == [f"quarantine/{large}/1.json"]

    done = tidegate("discard", large, small, "--why", "no use")
    assert (done.exit_code, "2 discarded" in done.output) == (0, True)
    assert (objects(pipeline), bodies("quarantine")) == ([], [])
    for item in kept(pipeline, large) + kept(pipeline, small):
        assert not item.keys() & {"body", "packed", "s3_key"}
        assert item["state"] == "discarded"
    shown = tidegate("show", small, "--raw").output
    assert "discarded by user/moto" in shown
    assert shown.endswith("(it is gone)\n")
    assert loaded(pipeline, small).status is Status.QUARANTINED
    assert differences(pipeline) == []


def test_what_cannot_be_released_is_refused_with_a_reason(pipeline: Pipeline) -> None:
    cut = failed(pipeline, "x" * 1_000_001, model=CHAT, finish="truncated")
    no_json = failed(pipeline, '{"account_id": 7')
    empty = failed(pipeline, "", model=CHAT)
    thrown = failed(pipeline)
    poor = failed(pipeline, STRANGER, partner="globex")
    assert tidegate("discard", thrown, "--why", "no use").exit_code == 0
    completed = posted(pipeline, GOOD, "good")
    pipeline.dynamodb.update_item(
        TableName="ledger",
        Key={"pk": {"S": "balance#globex"}, "sk": {"S": "balance"}},
        UpdateExpression="SET available = :none",
        ExpressionAttributeValues={":none": {"N": "0"}},
    )
    reasons = {
        "job_nobody": "there is no such record",
        completed: "there is no such record",
        thrown: "it was discarded by user/moto",
        cut: "only its beginning was kept",
        no_json: "the answer has no form in which a partner could be given it",
        empty: "the answer has no form in which a partner could be given it",
        poor: "the partner's credits do not reach",
    }
    result = tidegate("release", *reasons, "--why", "so")
    assert result.exit_code == 1
    rows = [line.split("│")[1:4] for line in result.output.splitlines() if "│" in line]
    told = {cells[0].strip(): (cells[1].strip(), cells[2].strip()) for cells in rows}
    assert told == {job_id: ("refused", why) for job_id, why in reasons.items()}
    assert "7 refused" in result.output
    assert len(bodies("quarantine")) == 4
    assert listed("--days", "1") == [poor, empty, no_json, cut]
    for job_id in (cut, no_json, empty, thrown, poor):
        assert loaded(pipeline, job_id).status is Status.QUARANTINED


def test_a_slip_of_the_pen_decides_nothing(
    pipeline: Pipeline, function: ReplayFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"job_{number}" for number in range(101)]
    assert tidegate("discard", *many, "--why", "so").exit_code == 2
    assert tidegate("discard", "job_1").exit_code == 2  # why?
    assert function.events == []
    wrong = tidegate("discard", "chat-mini", "--why", "so")
    assert (wrong.exit_code, "job_ids.0" in wrong.output) == (1, True)

    def busy(**_: Any) -> Any:
        error: Any = {"Error": {"Code": "TooManyRequestsException", "Message": "Rate exceeded"}}
        raise ClientError(error, "Invoke")

    monkeypatch.setattr(function, "invoke", busy)
    later = tidegate("release", "job_1", "--why", "so")
    assert (later.exit_code, "busy with a replay" in later.output) == (1, True)
