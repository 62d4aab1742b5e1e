"""What operators see of the cache, and what of it does not wake them."""

from __future__ import annotations

import json

import pytest

from infra.api import FAILURES
from infra.problems import PROBLEMS
from tests.infrastructure.synthesis import Synthesis
from tests.infrastructure.watching import alarm_of, dimensions, widgets, written
from tidegate.errors import NotCached
from tidegate.telemetry import ABSENT

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


def test_graphs_ask_for_metrics_by_the_very_dimensions_that_functions_write(
    prod: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = widgets(prod)
    for title, counted in SHOWN.items():
        lines = drawn[f"{MODEL}: {title}"]["metrics"]
        asked = [dimensions(line) for line in lines if "expression" not in line[0]]
        expected = [
            written(service, name, of, prod.config.name, capsys, monkeypatch)
            for service, name, of in counted
        ]
        assert asked == expected, title


def test_refreshes_are_found_whether_begun_or_not(
    prod: Synthesis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = {"model": MODEL, "begun": "True"}
    _name, made = written("api", "Refreshes", begun, "prod", capsys, monkeypatch)
    lines = widgets(prod)[f"{MODEL}: made anew, and declared void"]["metrics"]
    (search,) = [line[0]["expression"] for line in lines if "expression" in line[0]]
    assert f"{{Tidegate,{','.join(sorted(made))}}}" in search
    assert f'model="{MODEL}"' in search


def test_every_model_has_its_share_of_hits_drawn(every: Synthesis) -> None:
    drawn = widgets(every)
    for name in every.catalogue.models:
        graph = drawn[f"{name}: answered from the cache, %"]
        expression = graph["metrics"][0][0]["expression"]
        assert _percent(expression, part=30, rest=10) == 75
        assert graph["yAxis"]["left"] == {"min": 0, "max": 100}
        assert {f"{name}: {title}" for title in SHOWN} <= set(drawn)


def _percent(expression: str, **minute: int) -> float:
    """Return what CloudWatch makes of an expression for a minute's sums."""

    def fill(value: int, _otherwise: int) -> int:
        return value

    return float(eval(expression, {"FILL": fill}, dict(minute)))  # noqa: S307


def test_a_partner_who_wants_a_cached_answer_or_none_wakes_nobody(every: Synthesis) -> None:
    failures = alarm_of(every, "api-5xx")
    (filter_,) = every.all_of("AWS::Logs::MetricFilter").values()
    (counted,) = filter_["Properties"]["MetricTransformations"]
    asked = (failures["Namespace"], failures["MetricName"])
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
