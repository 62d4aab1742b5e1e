"""The sweeper's clock, and how long repair may take."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.infrastructure.synthesis import ROOT, Synthesis

REPAIR = ("sweeper", "replay")


def _function(every: Synthesis, name: str) -> dict[str, Any]:
    return every.one_of("AWS::Lambda::Function", FunctionName=every.config.named(name))


def _logical(every: Synthesis, name: str) -> str:
    (found,) = [
        logical
        for logical, function in every.all_of("AWS::Lambda::Function").items()
        if function["Properties"]["FunctionName"] == every.config.named(name)
    ]
    return found


def test_the_sweeper_begins_every_minute(every: Synthesis) -> None:
    rule = every.one_of("AWS::Events::Rule", Name=every.config.named("sweep"))
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    (target,) = rule["Targets"]
    sweeper = _logical(every, "sweeper")
    assert target["Arn"] == {"Fn::GetAtt": [sweeper, "Arn"]}
    assert "Input" not in target, "the handler gets EventBridge's own event"
    permissions = every.all_of("AWS::Lambda::Permission").values()
    allowed = [p["Properties"] for p in permissions if sweeper in str(p["Properties"])]
    assert [p["Principal"] for p in allowed] == ["events.amazonaws.com"]


def test_nothing_begins_replay_by_itself(every: Synthesis) -> None:
    assert len(every.all_of("AWS::Events::Rule")) == 1
    replay = _logical(every, "replay")
    for kind in ("AWS::Lambda::Permission", "AWS::Lambda::EventSourceMapping"):
        assert replay not in json.dumps(every.all_of(kind))


def test_a_sweep_has_ended_when_the_next_begins(every: Synthesis) -> None:
    assert _function(every, "sweeper")["Timeout"] < 60


def test_a_replay_may_take_as_long_as_lambda_allows_in_the_cloud(
    cloud: Synthesis, local: Synthesis
) -> None:
    assert _function(cloud, "replay")["Timeout"] == 900
    assert _function(local, "replay")["Timeout"] == 120


@pytest.mark.parametrize("name", REPAIR)
def test_one_at_a_time_and_what_is_late_is_dropped(every: Synthesis, name: str) -> None:
    assert _function(every, name)["ReservedConcurrentExecutions"] == 1
    config = every.one_of(
        "AWS::Lambda::EventInvokeConfig", FunctionName={"Ref": _logical(every, name)}
    )
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 60


def test_a_missed_minute_is_not_made_up_for(every: Synthesis) -> None:
    (target,) = every.one_of("AWS::Events::Rule")["Targets"]
    policy = {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}
    assert target["RetryPolicy"] == policy


@pytest.mark.parametrize("name", REPAIR)
def test_repair_is_told_one_prefix_however_many_queues_there_are(
    every: Synthesis, name: str
) -> None:
    function = _function(every, name)
    told = function["Environment"]["Variables"]
    assert function["Handler"] == f"{name}.handler.handler"
    assert set(told) == {
        "TIDEGATE_ENV", "JOBS_TABLE", "LEDGER_TABLE", "ASSETS_BUCKET", "QUEUE_URL_PREFIX",
        "POWERTOOLS_SERVICE_NAME",
    }  # fmt: skip
    api = _function(every, "api")["Environment"]["Variables"]
    for shared in ("JOBS_TABLE", "LEDGER_TABLE", "ASSETS_BUCKET", "QUEUE_URL_PREFIX"):
        assert told[shared] == api[shared]
    assert "Quarantine" in json.dumps(told["QUEUE_URL_PREFIX"])


def test_the_sample_event_is_the_one_the_rule_sends() -> None:
    event = json.loads((ROOT / "events" / "sweeper.json").read_text())
    assert (event["source"], event["detail-type"]) == ("aws.events", "Scheduled Event")
    assert event["resources"][0].endswith(":rule/tidegate-dev-sweep")
