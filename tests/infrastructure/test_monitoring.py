"""What wakes an operator, and what they then look at."""

from __future__ import annotations

import json
from typing import Any

from tests.infrastructure.synthesis import Synthesis


def _alarm(every: Synthesis, name: str) -> dict[str, Any]:
    return every.one_of("AWS::CloudWatch::Alarm", AlarmName=every.config.named(name))


def test_one_dead_letter_is_one_too_many(every: Synthesis) -> None:
    for name in every.catalogue.models:
        alarm = _alarm(every, f"{name}-dlq")
        assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
        assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 1)
        assert alarm["Threshold"] == 0
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"


def test_waiting_jobs_and_crashing_workers_are_seen_for_every_model(every: Synthesis) -> None:
    for name in every.catalogue.models:
        assert _alarm(every, f"{name}-age")["MetricName"] == "ApproximateAgeOfOldestMessage"
        assert _alarm(every, f"{name}-errors")["MetricName"] == "Errors"


def test_the_apis_failures_and_quarantined_answers_are_seen(every: Synthesis) -> None:
    assert _alarm(every, "api-5xx")["MetricName"] == "5XXError"
    assert _alarm(every, "quarantine")["MetricName"] == "NumberOfMessagesSent"


def test_failed_repairs_are_seen(every: Synthesis) -> None:
    assert _alarm(every, "sweeper-errors")["MetricName"] == "Errors"
    assert _alarm(every, "replay-errors")["MetricName"] == "Errors"


def test_a_sweeper_that_no_longer_begins_is_seen_in_five_minutes(every: Synthesis) -> None:
    alarm = _alarm(every, "sweeper-silent")
    assert alarm["MetricName"] == "Invocations"
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (60, 5)
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    assert alarm["TreatMissingData"] == "breaching"


def test_silence_is_no_alarm_but_the_sweepers(every: Synthesis) -> None:
    loud = every.config.named("sweeper-silent")
    for alarm in every.all_of("AWS::CloudWatch::Alarm").values():
        if alarm["Properties"]["AlarmName"] != loud:
            assert alarm["Properties"]["TreatMissingData"] == "notBreaching"


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
        for graph in ("queue and DLQ", "age of oldest", "worker", "duration"):
            assert f"{name}: {graph}" in text


def test_the_dashboard_says_what_was_put_right(every: Synthesis) -> None:
    (dashboard,) = every.all_of("AWS::CloudWatch::Dashboard").values()
    text = json.dumps(dashboard["Properties"]["DashboardBody"])
    for graph in ("jobs by what was done", "sweeper", "a sweep's duration", "replay"):
        assert f"Repair: {graph}" in text
    for repair in ("sent", "ended", "copied", "failed", "unknown_model"):
        assert f'repair="{repair}"' in text.replace("\\", "")
    assert f'environment="{every.config.name}"' in text.replace("\\", "")
