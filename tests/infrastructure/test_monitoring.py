"""What wakes an operator, and what they then look at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.infrastructure.grants import queue_names
from tests.infrastructure.synthesis import CATALOGUE, ROOT, Synthesis, synthesise
from tests.infrastructure.watching import alarm_of
from tidegate.doors.pace import COOL_DOWNS
from tidegate.rules.catalogue import load
from tidegate.telemetry import Telemetry

PACE_ALARMS = {
    "account": "VendorAccountRefused",
    "throttled": "Throttled",
    "paused": "Pause",
    "redis": "CacheUnavailable",
}
"""What each alarm about a model's pace looks at."""


def test_one_dead_letter_is_one_too_many(every: Synthesis) -> None:
    for name in every.catalogue.models:
        alarm = alarm_of(every, f"{name}-dlq")
        assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
        assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 1)
        assert alarm["Threshold"] == 0
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"


def test_waiting_jobs_and_crashing_workers_are_seen_for_every_model(every: Synthesis) -> None:
    for name in every.catalogue.models:
        assert alarm_of(every, f"{name}-age")["MetricName"] == "ApproximateAgeOfOldestMessage"
        assert alarm_of(every, f"{name}-errors")["MetricName"] == "Errors"


def test_low_priority_may_wait_longer_but_not_until_its_jobs_expire(every: Synthesis) -> None:
    for name, entry in every.catalogue.models.items():
        normal, low = alarm_of(every, f"{name}-age"), alarm_of(every, f"{name}-low-age")
        assert low["MetricName"] == normal["MetricName"]
        assert normal["Threshold"] < low["Threshold"] < entry.deadline
        for alarm, queue in ((normal, name), (low, f"{name}-low")):
            (dimension,) = alarm["Dimensions"]
            logical, _attribute = dimension["Value"]["Fn::GetAtt"]
            assert queue_names(every)[logical] == queue


def test_low_priority_is_never_seen_sooner_than_the_other(tmp_path: Path) -> None:
    models = load(CATALOGUE, "local")
    entry = models.models["chat-mini"].model_copy(update={"deadline": 60})
    one = models.model_copy(update={"models": {"chat-mini": entry}})
    made = synthesise("local", tmp_path, one)
    low = alarm_of(made, "chat-mini-low-age")["Threshold"]
    assert low == alarm_of(made, "chat-mini-age")["Threshold"]


def test_every_model_says_when_its_vendor_or_redis_keeps_it_from_working(every: Synthesis) -> None:
    for name in every.catalogue.models:
        for alarm, metric in PACE_ALARMS.items():
            found = alarm_of(every, f"{name}-{alarm}")
            assert (found["Namespace"], found["MetricName"]) == ("Tidegate", metric)
            assert found["ComparisonOperator"] == "GreaterThanThreshold"


def test_alarms_ask_for_metrics_by_the_very_dimensions_that_workers_write(
    prod: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = prod.one_of(
        "AWS::Lambda::Function", FunctionName=prod.config.named("worker-chat-mini")
    )
    told = worker["Environment"]["Variables"]
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", told["POWERTOOLS_SERVICE_NAME"])
    telemetry = Telemetry("worker", told["TIDEGATE_ENV"])
    for metric in PACE_ALARMS.values():
        telemetry.count(metric, model=told["MODEL"])
    telemetry.flush()
    written = json.loads(capsys.readouterr().out)
    (metrics,) = written["_aws"]["CloudWatchMetrics"]
    (names,) = metrics["Dimensions"]
    for alarm in PACE_ALARMS:
        found = alarm_of(prod, f"chat-mini-{alarm}")
        assert found["Namespace"] == metrics["Namespace"]
        asked = {dimension["Name"]: dimension["Value"] for dimension in found["Dimensions"]}
        assert asked == {name: written[name] for name in names}


def test_alarms_ask_for_metrics_that_the_code_counts() -> None:
    flows = ROOT / "layers" / "tidegate" / "python" / "tidegate" / "flows"
    code = "".join(path.read_text() for path in flows.glob("*.py"))
    for metric in PACE_ALARMS.values():
        assert f'"{metric}"' in code


def test_a_refused_account_is_seen_at_once_and_rings_once_for_all_its_probes(
    every: Synthesis,
) -> None:
    for name, entry in every.catalogue.models.items():
        alarm = alarm_of(every, f"{name}-account")
        assert (alarm["DatapointsToAlarm"], alarm["Threshold"]) == (1, 0)
        assert alarm["Period"] * alarm["EvaluationPeriods"] > COOL_DOWNS["account"][1]
        assert every.config.vendors[entry.vendor].secret in alarm["AlarmDescription"]


def test_one_wave_of_refusals_is_no_alarm_but_waves_that_come_back_are(every: Synthesis) -> None:
    for name in every.catalogue.models:
        alarm = alarm_of(every, f"{name}-throttled")
        assert (alarm["Period"], alarm["Threshold"]) == (300, 0)
        assert 1 < alarm["DatapointsToAlarm"] < alarm["EvaluationPeriods"]
        assert f"models.{name}.pace" in alarm["AlarmDescription"]


def test_a_pause_of_minutes_is_seen_from_its_first(every: Synthesis) -> None:
    for name in every.catalogue.models:
        alarm = alarm_of(every, f"{name}-paused")
        assert (alarm["Statistic"], alarm["DatapointsToAlarm"]) == ("Maximum", 1)
        assert alarm["Threshold"] == 120_000, "milliseconds, as durations are written"


def test_redis_out_of_reach_is_seen_after_minutes(every: Synthesis) -> None:
    for name in every.catalogue.models:
        alarm = alarm_of(every, f"{name}-redis")
        assert (alarm["Period"], alarm["Threshold"]) == (60, 0)
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (3, 5)
        assert "cache" in alarm["AlarmDescription"]


def test_the_apis_failures_are_seen(every: Synthesis) -> None:
    assert alarm_of(every, "api-5xx")["MetricName"] == "ApiFailures"


@pytest.mark.parametrize("service", ["api", "worker", "sweeper", "replay"])
def test_what_aws_refuses_as_wrong_is_seen(every: Synthesis, service: str) -> None:
    alarm = alarm_of(every, f"{service}-defects")
    assert (alarm["MetricName"], alarm["Threshold"]) == ("Defects", 0)
    assert {"Name": "service", "Value": service} in alarm["Dimensions"]


def test_failed_repairs_are_seen(every: Synthesis) -> None:
    assert alarm_of(every, "sweeper-errors")["MetricName"] == "Errors"
    assert alarm_of(every, "replay-errors")["MetricName"] == "Errors"


def test_a_sweeper_that_no_longer_begins_is_seen_in_five_minutes(every: Synthesis) -> None:
    alarm = alarm_of(every, "sweeper-silent")
    assert alarm["MetricName"] == "Invocations"
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 5)
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    assert alarm["TreatMissingData"] == "breaching"


def test_silence_is_no_alarm_but_the_sweepers(every: Synthesis) -> None:
    loud = every.config.named("sweeper-silent")
    for alarm in every.all_of("AWS::CloudWatch::Alarm").values():
        if alarm["Properties"]["AlarmName"] != loud:
            assert alarm["Properties"]["TreatMissingData"] == "notBreaching"


def test_no_alarm_says_more_than_cloudwatch_takes(every: Synthesis) -> None:
    for alarm in every.all_of("AWS::CloudWatch::Alarm").values():
        assert 0 < len(alarm["Properties"]["AlarmDescription"]) <= 1024


def test_alarms_reach_somebody_in_the_cloud(cloud: Synthesis) -> None:
    (topic,) = cloud.all_of("AWS::SNS::Topic")
    for alarm in cloud.all_of("AWS::CloudWatch::Alarm").values():
        assert alarm["Properties"]["AlarmActions"] == [{"Ref": topic}]
        assert alarm["Properties"]["OKActions"] == [{"Ref": topic}]
    (key,) = cloud.all_of("AWS::KMS::Key").values()
    assert "cloudwatch.amazonaws.com" in json.dumps(key["Properties"]["KeyPolicy"])


def test_the_dashboard_has_a_row_for_every_model(every: Synthesis) -> None:
    (dashboard,) = every.all_of("AWS::CloudWatch::Dashboard").values()
    text = json.dumps(dashboard["Properties"]["DashboardBody"])
    for name in every.catalogue.models:
        for graph in (
            "queues and DLQ", "age of oldest", "worker", "duration",
            "refused by the vendor, and pauses", "deferrals by reason", "wait for a slot",
            "Redis out of reach",
        ):  # fmt: skip
            assert f"{name}: {graph}" in text
        found = (
            "{Tidegate,environment,model,reason,service} "
            f'MetricName="Deferrals" environment="{every.config.name}" model="{name}"'
        )
        assert found in text.replace("\\", "")


def test_the_dashboard_says_what_was_put_right(every: Synthesis) -> None:
    (dashboard,) = every.all_of("AWS::CloudWatch::Dashboard").values()
    text = json.dumps(dashboard["Properties"]["DashboardBody"])
    for graph in ("jobs by what was done", "sweeper", "a sweep's duration", "replay"):
        assert f"Repair: {graph}" in text
    for repair in ("sent", "ended", "copied", "failed", "unknown_model"):
        assert f'repair="{repair}"' in text.replace("\\", "")
    assert f'environment="{every.config.name}"' in text.replace("\\", "")
