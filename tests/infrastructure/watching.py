"""What the templates watch: alarms, graphs, and metrics as functions write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.infrastructure.synthesis import Synthesis
from tidegate.telemetry import Telemetry


def alarm_of(every: Synthesis, name: str) -> dict[str, Any]:
    """Return the properties of an alarm; its name is without the environment's prefix."""
    return every.one_of("AWS::CloudWatch::Alarm", AlarmName=every.config.named(name))


def widgets(every: Synthesis) -> dict[str, dict[str, Any]]:
    """Return the dashboard's graphs by title, with `x` for what CloudFormation fills in."""
    (dashboard,) = every.all_of("AWS::CloudWatch::Dashboard").values()
    body = dashboard["Properties"]["DashboardBody"]
    pieces = [body] if isinstance(body, str) else body["Fn::Join"][1]
    text = "".join(piece if isinstance(piece, str) else "x" for piece in pieces)
    return {each["properties"]["title"]: each["properties"] for each in json.loads(text)["widgets"]}


def dimensions(metric: list[Any]) -> tuple[str, dict[str, str]]:
    """Return a graph's metric by its name, with its dimensions."""
    namespace, name, *rest = (each for each in metric if isinstance(each, str))
    assert namespace == "Tidegate"
    return name, dict(zip(rest[::2], rest[1::2], strict=True))


def written(
    service: str,
    name: str,
    of: dict[str, str],
    environment: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[str, dict[str, str]]:
    """Return a metric by its name, with its dimensions, as a function writes it."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", service)
    telemetry = Telemetry(service, environment)
    telemetry.count(name, 1, **of)
    telemetry.flush()
    line = json.loads(capsys.readouterr().out)
    ((names,),) = [each["Dimensions"] for each in line["_aws"]["CloudWatchMetrics"]]
    return name, {each: line[each] for each in names}
