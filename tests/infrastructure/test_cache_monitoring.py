"""What operators see of the cache, and what of it does not wake them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.api import FAILURES
from infra.problems import PROBLEMS
from tests.infrastructure.synthesis import Synthesis
from tidegate.errors import NotCached
from tidegate.telemetry import ABSENT, Telemetry

MODEL = "chat-mini"
SHOWN: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "answered from the cache, %": [
        ("api", "CacheHits", {"model": MODEL}),
        ("api", "CacheMisses", {"model": MODEL}),
    ],
    "hits and misses": [
        ("api", "CacheHits", {"model": MODEL}),
        ("api", "CacheMisses", {"model": MODEL}),
        ("worker", "CacheHits", {"model": MODEL}),
        ("api", "NegativeHits", {"model": MODEL}),
        ("worker", "NegativeHits", {"model": MODEL}),
    ],
    "past the cache, and renamed": [
        ("api", "Bypasses", {"model": MODEL}),
        ("api", "Renamed", {"model": MODEL, "done": "True"}),
        ("api", "Renamed", {"model": MODEL, "done": "False"}),
    ],
    "made anew, and declared void": [
        ("worker", "Invalidations", {"model": MODEL}),
        ("worker", "Invalidations", {"model": ABSENT}),
    ],
}
"""By graph: who counts what, under which dimensions."""


def _widgets(every: Synthesis) -> dict[str, dict[str, Any]]:
    """Return the dashboard's graphs by title, with `x` for what CloudFormation fills in."""
    (dashboard,) = every.all_of("AWS::CloudWatch::Dashboard").values()
    body = dashboard["Properties"]["DashboardBody"]
    pieces = [body] if isinstance(body, str) else body["Fn::Join"][1]
    text = "".join(piece if isinstance(piece, str) else "x" for piece in pieces)
    return {each["properties"]["title"]: each["properties"] for each in json.loads(text)["widgets"]}


def _dimensions(metric: list[Any]) -> tuple[str, dict[str, str]]:
    """Return a graph's metric by its name, with its dimensions."""
    namespace, name, *rest = (each for each in metric if isinstance(each, str))
    assert namespace == "Tidegate"
    return name, dict(zip(rest[::2], rest[1::2], strict=True))


def _written(
    service: str,
    name: str,
    dimensions: dict[str, str],
    environment: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[str, dict[str, str]]:
    """Return a metric as a function writes it."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", service)
    telemetry = Telemetry(service, environment)
    telemetry.count(name, 1, **dimensions)
    telemetry.flush()
    written = json.loads(capsys.readouterr().out)
    ((names,),) = [each["Dimensions"] for each in written["_aws"]["CloudWatchMetrics"]]
    return name, {each: written[each] for each in names}


def test_graphs_ask_for_metrics_by_the_very_dimensions_that_functions_write(
    prod: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    widgets = _widgets(prod)
    for title, counted in SHOWN.items():
        lines = widgets[f"{MODEL}: {title}"]["metrics"]
        asked = [_dimensions(line) for line in lines if "expression" not in line[0]]
        expected = [
            _written(service, name, dimensions, prod.config.name, capsys, monkeypatch)
            for service, name, dimensions in counted
        ]
        assert asked == expected, title


def test_refreshes_are_found_whether_begun_or_not(
    prod: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = {"model": MODEL, "begun": "True"}
    _name, written = _written("api", "Refreshes", begun, "prod", capsys, monkeypatch)
    lines = _widgets(prod)[f"{MODEL}: made anew, and declared void"]["metrics"]
    (search,) = [line[0]["expression"] for line in lines if "expression" in line[0]]
    assert f"{{Tidegate,{','.join(sorted(written))}}}" in search
    assert f'model="{MODEL}"' in search


def test_every_model_has_its_share_of_hits_drawn(every: Synthesis) -> None:
    widgets = _widgets(every)
    for name in every.catalogue.models:
        graph = widgets[f"{name}: answered from the cache, %"]
        expression = graph["metrics"][0][0]["expression"]
        assert _percent(expression, part=30, rest=10) == 75
        assert graph["yAxis"]["left"] == {"min": 0, "max": 100}
        assert {f"{name}: {title}" for title in SHOWN} <= set(widgets)


def _percent(expression: str, **minute: int) -> float:
    """Return what CloudWatch makes of an expression for a minute's sums."""

    def fill(value: int, _otherwise: int) -> int:
        return value

    return float(eval(expression, {"FILL": fill}, dict(minute)))  # noqa: S307


def test_a_partner_who_wants_a_cached_answer_or_none_wakes_nobody(every: Synthesis) -> None:
    alarm = every.one_of("AWS::CloudWatch::Alarm", AlarmName=every.config.named("api-5xx"))
    (filter_,) = every.all_of("AWS::Logs::MetricFilter").values()
    (counted,) = filter_["Properties"]["MetricTransformations"]
    asked = (alarm["Namespace"], alarm["MetricName"])
    assert asked == (counted["MetricNamespace"], counted["MetricName"])
    assert every.config.name in counted["MetricNamespace"], "others may be in the same account"
    pattern = filter_["Properties"]["FilterPattern"]
    for status in FAILURES:
        assert f'$.status = "{status}"' in pattern
    assert str(NotCached.status) not in pattern
    (group,) = {filter_["Properties"]["LogGroupName"]["Ref"]}
    assert every.all_of("AWS::Logs::LogGroup")[group]["Properties"]["LogGroupName"].endswith(
        "/access"
    )
    stage = every.one_of("AWS::ApiGateway::Stage", StageName=every.config.name)
    assert json.loads(stage["AccessLogSetting"]["Format"])["status"] == "$context.status"


def test_api_gateways_own_failures_are_all_among_those_that_wake_somebody() -> None:
    own = {problem.status for problem in PROBLEMS.values() if problem.status >= 500}
    assert own
    assert own <= set(FAILURES)


def test_api_gateway_keeps_no_cache_that_cache_control_would_speak_to(every: Synthesis) -> None:
    """A stage with one takes `Cache-Control: max-age=0` for a wish of its own."""
    stage = every.one_of("AWS::ApiGateway::Stage", StageName=every.config.name)
    assert not stage.get("CacheClusterEnabled")
    for settings in stage["MethodSettings"]:
        assert not settings.get("CachingEnabled")
    for method in every.all_of("AWS::ApiGateway::Method").values():
        assert method["Properties"]["Integration"]["Type"] == "AWS_PROXY", "headers as they are"
