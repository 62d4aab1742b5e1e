"""The dashboard's rows: what an operator sees at a glance."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.api import Api
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.model import Model
from infra.repair import Repair

_MINUTE = Duration.minutes(1)

REPAIRS = ("sent", "ended", "copied", "failed", "unknown_model")
"""What the sweeper's metric `Swept` tells apart and operators want to see: what was put right, and
the two that say it could not be."""


def api_row(api: Api, data: Data) -> list[cloudwatch.IWidget]:
    """Return the graphs of the front door."""
    return [
        _graph(
            "API: requests",
            api.rest.metric_count(),
            api.rest.metric_client_error(),
            api.rest.metric_server_error(),
        ),
        _graph(
            "API: latency",
            api.rest.metric_latency(statistic="p50"),
            api.rest.metric_latency(statistic="p99"),
        ),
        _graph(
            "API function: errors", api.function.metric_errors(), api.authorizer.metric_errors()
        ),
        _graph(
            "Quarantine",
            data.quarantine.metric_number_of_messages_sent(),
            data.quarantine.metric_approximate_number_of_messages_visible(),
        ),
    ]


def repair_row(config: EnvironmentConfig, repair: Repair) -> list[cloudwatch.IWidget]:
    """Return the graphs of the sweeper and of replay."""
    sweeper, replay = repair.sweeper, repair.replay
    return [
        _graph("Repair: jobs by what was done", *(_swept(config, kind) for kind in REPAIRS)),
        _graph(
            "Repair: sweeper",
            sweeper.metric_invocations(),
            sweeper.metric_errors(),
            sweeper.metric_throttles(),
        ),
        _graph("Repair: a sweep's duration", sweeper.metric_duration(statistic="Maximum")),
        _graph("Repair: replay", replay.metric_invocations(), replay.metric_errors()),
    ]


def _swept(config: EnvironmentConfig, kind: str) -> cloudwatch.MathExpression:
    """Return how many jobs one kind of repair was done to, over all models there are or were."""
    found = (
        "{Tidegate,environment,model,repair,service} "
        f'MetricName="Swept" environment="{config.name}" repair="{kind}"'
    )
    return cloudwatch.MathExpression(
        expression=f"SUM(SEARCH('{found}', 'Sum', 60))",
        using_metrics={},
        label=kind,
        period=_MINUTE,
    )


def model_row(model: Model) -> list[cloudwatch.IWidget]:
    """Return the graphs of one model."""
    queue, dlq, worker = model.queue, model.dlq, model.worker
    return [
        _graph(
            f"{model.name}: queue and DLQ",
            queue.metric_approximate_number_of_messages_visible(statistic="Maximum"),
            dlq.metric_approximate_number_of_messages_visible(statistic="Maximum"),
        ),
        _graph(
            f"{model.name}: age of oldest",
            queue.metric_approximate_age_of_oldest_message(statistic="Maximum"),
        ),
        _graph(
            f"{model.name}: worker",
            worker.metric_invocations(),
            worker.metric_errors(),
            worker.metric_throttles(),
        ),
        _graph(
            f"{model.name}: duration",
            worker.metric_duration(statistic="p50"),
            worker.metric_duration(statistic="p99"),
        ),
    ]


def _graph(title: str, *metrics: cloudwatch.IMetric) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=6, height=6)
