"""What operators see of the gate, and which of it wakes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infrastructure.synthesis import ROOT, Synthesis
from tests.infrastructure.watching import alarm_of, dimensions, widgets, written

MODEL = "risk-report"
REFERENCES = "references out of reach"
SHOWN: dict[str, list[tuple[str, str]]] = {
    "judged": [
        ("worker", "QuarantineRatio"),
        ("worker", "Quarantined"),
        ("replay", "ReleasedAnswers"),
        ("replay", "DiscardedAnswers"),
    ],
    "quarantined, %": [("worker", "QuarantineRatio")],
    "validation, ms": [("worker", "ValidationTime"), ("worker", "ValidationTime")],
    REFERENCES: [("worker", "ReferencesUnavailable")],
}
"""By graph: who counts what, by model."""


def _expression(alarm: dict[str, Any]) -> str:
    """Return the expression of an alarm, which looks at both halves of one metric."""
    (found,) = [one["Expression"] for one in alarm["Metrics"] if "IF" in one.get("Expression", "")]
    return str(found)


def _value(expression: str, n: int, share: float) -> float | None:
    """Return what CloudWatch makes of an expression for one period; None is no value."""

    def chosen(condition: bool, yes: float, no: float | None = None) -> float | None:
        return yes if condition else no

    value = eval(expression, {"IF": chosen}, {"n": n, "share": share})  # noqa: S307
    return None if value is None else float(value)


def _queries(alarm: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["Id"]: one for one in alarm["Metrics"]}


def test_a_tenth_that_fails_is_seen_from_the_first_day_if_there_are_ten(cloud: Synthesis) -> None:
    for name in cloud.catalogue.models:
        alarm = alarm_of(cloud, f"{name}-quarantine-ratio")
        expression, threshold = _expression(alarm), alarm["Threshold"]
        assert expression == "IF(n >= 10, share, 0)"
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
        assert alarm["EvaluationPeriods"] == 1
        assert _value(expression, n=10, share=0.2) > threshold
        assert _value(expression, n=10, share=0.1) == threshold, "a tenth is still well"
        assert _value(expression, n=9, share=1.0) == 0, "too few to say, and not the last that did"


def test_a_jump_is_held_against_the_models_own_past(cloud: Synthesis) -> None:
    for name in cloud.catalogue.models:
        alarm = alarm_of(cloud, f"{name}-quarantine-jump")
        queries = _queries(alarm)
        band = queries[alarm["ThresholdMetricId"]]
        (looked_at,) = [id_ for id_, one in queries.items() if "IF" in one.get("Expression", "")]
        assert band["Expression"] == f"ANOMALY_DETECTION_BAND({looked_at}, 3)"
        assert {id_ for id_, one in queries.items() if one["ReturnData"]} == {
            alarm["ThresholdMetricId"], looked_at,
        }  # fmt: skip
        assert alarm["ComparisonOperator"] == "GreaterThanUpperThreshold"
        assert "Threshold" not in alarm
        assert (alarm["EvaluationPeriods"], alarm.get("DatapointsToAlarm", 3)) == (3, 3)
        expression = _expression(alarm)
        assert expression == "IF(n >= 10, share)"
        assert _value(expression, n=9, share=0.0) is None, "few answers teach nothing"


@pytest.mark.parametrize("kind", ["ratio", "jump"])
def test_both_look_at_a_quarter_of_an_hour_of_what_the_gate_counts(
    prod: Synthesis,
    kind: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries = _queries(alarm_of(prod, f"{MODEL}-quarantine-{kind}"))
    name, of = written("worker", "QuarantineRatio", {"model": MODEL}, "prod", capsys, monkeypatch)
    for id_, statistic in (("n", "SampleCount"), ("share", "Average")):
        asked = queries[id_]["MetricStat"]
        assert (asked["Stat"], asked["Period"]) == (statistic, 900)
        metric = asked["Metric"]
        assert (metric["Namespace"], metric["MetricName"]) == ("Tidegate", name)
        assert {one["Name"]: one["Value"] for one in metric["Dimensions"]} == of


@pytest.mark.parametrize("kind", ["ratio", "jump"])
def test_who_is_told_of_failing_answers_reads_what_to_do(cloud: Synthesis, kind: str) -> None:
    for name in cloud.catalogue.models:
        says = alarm_of(cloud, f"{name}-quarantine-{kind}")["AlarmDescription"]
        for todo in ("quarantine list", "answered_by", "models pause", f"models.{name}.version"):
            assert todo in says


def test_the_emulator_is_asked_for_no_alarm_on_an_expression(local: Synthesis) -> None:
    for alarm in local.all_of("AWS::CloudWatch::Alarm").values():
        assert "Metrics" not in alarm["Properties"], "its CloudFormation refuses the template"


def test_references_that_cannot_be_reached_are_seen_where_an_answer_has_some(
    every: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = every.config.name
    with_references = {name for name in every.catalogue.models if every.catalogue.sources(name)}
    assert MODEL in with_references
    for name in with_references:
        alarm = alarm_of(every, f"{name}-references")
        metric, of = written(
            "worker", "ReferencesUnavailable", {"model": name}, environment, capsys, monkeypatch
        )
        assert (alarm["Namespace"], alarm["MetricName"]) == ("Tidegate", metric)
        assert {one["Name"]: one["Value"] for one in alarm["Dimensions"]} == of
        assert (alarm["Statistic"], alarm["Period"], alarm["Threshold"]) == ("Sum", 60, 0)
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (3, 5)
        for set_name in every.catalogue.sources(name):
            assert set_name in alarm["AlarmDescription"]
    alarms = every.all_of("AWS::CloudWatch::Alarm").values()
    names = {alarm["Properties"]["AlarmName"] for alarm in alarms}
    others = {every.config.named(f"{name}-references") for name in every.catalogue.models}
    assert names & others == {every.config.named(f"{name}-references") for name in with_references}


def test_the_queue_wakes_somebody_when_it_grows_or_is_long_and_not_at_one_answer(
    every: Synthesis,
) -> None:
    growing = alarm_of(every, "quarantine-growing")
    assert (growing["MetricName"], growing["Statistic"]) == ("NumberOfMessagesSent", "Sum")
    assert (growing["Period"], growing["EvaluationPeriods"]) == (3600, 1)
    assert (growing["ComparisonOperator"], growing["Threshold"]) == ("GreaterThanThreshold", 10)
    backlog = alarm_of(every, "quarantine-backlog")
    assert backlog["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert backlog["Statistic"] == "Maximum", "a decision hides what it reads through"
    assert (backlog["ComparisonOperator"], backlog["Threshold"]) == ("GreaterThanThreshold", 100)
    alarms = [alarm["Properties"] for alarm in every.all_of("AWS::CloudWatch::Alarm").values()]
    about = [alarm for alarm in alarms if "Quarantine" in str(alarm.get("Dimensions"))]
    assert [alarm["Threshold"] >= 10 for alarm in about] == [True, True]


def test_the_gate_counts_what_is_watched() -> None:
    flows = ROOT / "layers" / "tidegate" / "python" / "tidegate" / "flows"
    code = "".join(path.read_text() for path in flows.glob("*.py"))
    for metric in ("QuarantineRatio", "Quarantined", "ValidationTime", "ReferencesUnavailable"):
        assert f'"{metric}"' in code


def test_graphs_of_the_gate_ask_by_the_very_dimensions_that_functions_write(
    prod: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = widgets(prod)
    for title, counted in SHOWN.items():
        lines = drawn[f"{MODEL}: {title}"]["metrics"]
        asked = [dimensions(line) for line in lines if "Tidegate" in line]
        expected = [
            written(service, name, {"model": MODEL}, "prod", capsys, monkeypatch)
            for service, name in counted
        ]
        assert asked == expected, title
    share = drawn[f"{MODEL}: quarantined, %"]
    assert _value(share["metrics"][0][0]["expression"], n=1, share=0.08) == 8
    assert share["yAxis"]["left"] == {"min": 0, "max": 100}


def test_every_model_has_its_gate_drawn_and_references_only_where_it_has_some(
    every: Synthesis,
) -> None:
    drawn = set(widgets(every))
    for name in every.catalogue.models:
        has = set(SHOWN) if every.catalogue.sources(name) else set(SHOWN) - {REFERENCES}
        assert {title for title in SHOWN if f"{name}: {title}" in drawn} == has


def test_the_dashboard_stays_far_below_what_cloudwatch_draws(every: Synthesis) -> None:
    """500 metrics in a graph and 2500 in all; a search counts for what it finds."""
    lines = [len(graph["metrics"]) for graph in widgets(every).values()]
    assert max(lines) < 50
    assert sum(lines) < 250 * len(every.catalogue.models) < 2500
