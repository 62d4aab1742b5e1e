"""What operators are told: every field on every line, and nothing that is not theirs to see."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest

from tests.contract.jobs import drain
from tests.contract.test_accept import BODY
from tests.fakes import answer
from tests.pipeline import Pipeline
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.telemetry import FIELDS

PROMPT = "PROMPT-that-nobody-may-read"
ANSWER = "ANSWER-that-nobody-may-read"
KEY = "KEY-that-nobody-may-read"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def _loggers_write_here(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loggers live as long as the process; let them write to this test's output, and no other's."""
    pipeline.worker("chat-mini")
    assert pipeline.api
    for name in ("api", "worker"):
        for handler in logging.getLogger(name).handlers:
            assert isinstance(handler, logging.StreamHandler)
            monkeypatch.setattr(handler, "stream", sys.stdout)


@pytest.fixture
def output(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Everything that a run with each kind of end prints."""
    capsys.readouterr()
    message = {"role": "user", "content": PROMPT}
    body = {"model": "chat-mini", "input": {"messages": [message]}}
    report = {"model": "risk-report", "input": {"text": PROMPT}}
    pipeline.vendor.otherwise = lambda _call: answer(ANSWER)
    pipeline.vendor.script = [VendorFailed("500", vendor_status=500)]
    pipeline.post(body, KEY)
    pipeline.post({**body, "params": {"seed": 1}}, KEY)
    pipeline.post(body, KEY + "2")
    pipeline.post(report, KEY + "3")
    pipeline.send("POST", "/v1/jobs", raw=PROMPT, headers={"Content-Type": "application/json"})
    drain(pipeline, "chat-mini")
    pipeline.deliver("risk-report")  # not JSON: quarantined
    pipeline.vendor.script = [VendorRefused("400", vendor_status=400)]
    pipeline.post({**body, "params": {"seed": 2}}, KEY + "4")
    pipeline.deliver("chat-mini")
    pipeline.post(body, KEY + "5")
    pipeline.sqs.send_message(QueueUrl=pipeline.queue_url("chat-mini"), MessageBody=PROMPT)
    pipeline.deliver("chat-mini")
    return lines(capsys)


def test_nothing_of_a_prompt_an_answer_or_a_key_is_written(output: list[dict[str, Any]]) -> None:
    text = json.dumps(output)
    for secret in (PROMPT, ANSWER, KEY):
        assert secret not in text


def test_every_log_line_has_every_field(output: list[dict[str, Any]]) -> None:
    logs = [line for line in output if "_aws" not in line]
    assert len(logs) > 8
    for line in logs:
        assert set(FIELDS) <= set(line)
    ended = [line for line in logs if line["message"] == "job_ended"]
    assert {line["status"] for line in ended} == {"completed", "quarantined", "failed"}
    assert all(line["job_id"].startswith("job_") for line in ended)
    assert all(line["idempotency_key_hash"] != "-" for line in ended)


def test_the_metrics_of_the_path_are_there_and_no_partner_is_a_dimension(
    output: list[dict[str, Any]],
) -> None:
    metrics = [line["_aws"]["CloudWatchMetrics"][0] for line in output if "_aws" in line]
    names = {metric["Name"] for each in metrics for metric in each["Metrics"]}
    assert names >= {
        "Accepted",
        "CacheHits",
        "CacheMisses",
        "Ended",
        "Errors",
        "PoisonMessages",
        "ProcessingTime",
        "Quarantined",
        "QueueWait",
        "Requests",
        "Retries",
        "Tokens",
        "UpstreamLatency",
    }
    dimensions = {name for each in metrics for group in each["Dimensions"] for name in group}
    assert not dimensions & {"partner", "job_id", "request_id"}


def test_dead_letters_and_contention_are_counted(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.vendor.script = [VendorFailed("500")] * 9
    job_id = pipeline.post(BODY).json["id"]
    job = pipeline.api.doors.jobs.load(job_id)
    assert job is not None
    drain(pipeline, "chat-mini")
    pipeline.worker("chat-mini").lease.take(job.job_key, "other", 30)
    pipeline.post(BODY)
    pipeline.deliver("chat-mini")
    names = {
        metric["Name"]
        for line in lines(capsys)
        if "_aws" in line
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }
    assert names >= {"DeadLetters", "LeaseContention", "Deferrals"}


@pytest.mark.parametrize(
    ("said", "metrics", "told"),
    [
        ({"input_tokens": None}, {"UsageEstimated"}, [("usage_estimated", "input")]),
        ({"output_tokens": 0}, {"UsageEstimated"}, [("usage_estimated", "output")]),
        (
            {"output_tokens": 10**12},
            {"UsageEstimated", "VendorNumberBounded"},
            [("vendor_number_bounded", "output")],
        ),
        ({}, set(), []),
    ],
)
def test_counts_that_are_not_the_vendors_are_told_to_operators(
    pipeline: Pipeline,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    said: dict[str, Any],
    metrics: set[str],
    told: list[tuple[str, str]],
) -> None:
    pipeline.vendor.script = [answer(ANSWER, **said)]
    pipeline.post(BODY)
    capsys.readouterr()
    pipeline.deliver("chat-mini")
    counted = {
        metric["Name"]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith('{"_aws"')
        for metric in json.loads(line)["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }
    assert counted & {"UsageEstimated", "VendorNumberBounded"} == metrics
    sides = [(r.message, getattr(r, "unsaid", getattr(r, "of", None))) for r in caplog.records]
    assert [each for each in sides if each[1]] == told
