"""The dashboard's rows: what an operator sees at a glance."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.api import Api
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.metrics import each, judged, metric, ratio, share_failed, total
from infra.model import Model
from infra.repair import Repair

REPAIRS = ("sent", "ended", "copied", "failed", "unknown_model")
"""What the sweeper's metric `Swept` tells apart and operators want to see: what was put right, and
the two that say it could not be."""

RATIO_PERIOD = Duration.minutes(15)
"""Of a share of answers that failed: in a minute there are too few. As the alarm looks at it."""

OF_A_PARTNER = "-"
"""What stands for a model where a partner's answers are declared void, whatever the model."""


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
    return total("model", "Swept", config.name, label=kind, repair=kind, service="sweeper")


def model_row(model: Model) -> list[cloudwatch.IWidget]:
    """Return the graphs of one model's jobs and worker."""
    queues, worker = model.queues, model.worker
    return [
        _graph(
            f"{model.name}: queues and DLQ",
            *(
                queue.metric_approximate_number_of_messages_visible(
                    statistic="Maximum", label=label
                )
                for label, queue in (
                    ("normal", queues.normal),
                    ("low priority", queues.low),
                    ("DLQ", queues.dlq),
                )
            ),
        ),
        _graph(
            f"{model.name}: age of oldest",
            *(
                queue.metric_approximate_age_of_oldest_message(statistic="Maximum", label=label)
                for label, queue in (("normal", queues.normal), ("low priority", queues.low))
            ),
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


def pace_row(config: EnvironmentConfig, model: Model) -> list[cloudwatch.IWidget]:
    """Return the graphs of one model's pace: why its jobs wait."""
    name = model.name

    def of(what: str, statistic: str = "Sum", service: str = "worker") -> cloudwatch.Metric:
        return metric(what, config.name, statistic=statistic, model=name, service=service)

    return [
        cloudwatch.GraphWidget(
            title=f"{name}: refused by the vendor, and pauses",
            left=[of("Throttled"), of("VendorAccountRefused")],
            right=[of("Pause", "Maximum")],
            width=6,
            height=6,
        ),
        _graph(
            f"{name}: deferrals by reason",
            each("reason", "Deferrals", config.name, model=name, service="worker"),
        ),
        _graph(f"{name}: wait for a slot", of("PaceWait", "p50"), of("PaceWait", "p99")),
        _graph(
            f"{name}: Redis out of reach",
            of("CacheUnavailable"),
            of("CacheUnavailable", service="api"),
        ),
    ]


def gate_row(config: EnvironmentConfig, model: Model) -> list[cloudwatch.IWidget]:
    """Return the graphs of one model's gate: what fails, how long judging takes, what it lacks."""
    name, environment = model.name, config.name

    def of(what: str, statistic: str, service: str, label: str) -> cloudwatch.Metric:
        found = metric(what, environment, statistic=statistic, model=name, service=service)
        return found.with_(label=label)

    row: list[cloudwatch.IWidget] = [
        _graph(
            f"{name}: judged",
            judged(environment, name, Duration.minutes(1)),
            of("Quarantined", "Sum", "worker", "quarantined"),
            of("ReleasedAnswers", "Sum", "replay", "released by operators"),
            of("DiscardedAnswers", "Sum", "replay", "discarded by operators"),
        ),
        cloudwatch.GraphWidget(
            title=f"{name}: quarantined, %",
            left=[
                cloudwatch.MathExpression(
                    expression="100 * share",
                    using_metrics={"share": share_failed(environment, name, RATIO_PERIOD)},
                    label="%",
                    period=RATIO_PERIOD,
                )
            ],
            left_y_axis=cloudwatch.YAxisProps(min=0, max=100),
            width=6,
            height=6,
        ),
        _graph(
            f"{name}: validation, ms",
            of("ValidationTime", "p50", "worker", "p50"),
            of("ValidationTime", "p99", "worker", "p99"),
        ),
    ]
    if model.entry.contract is not None and model.entry.contract.references:
        missed = of("ReferencesUnavailable", "Sum", "worker", "references unavailable")
        row.append(_graph(f"{name}: references out of reach", missed))
    return row


def cache_row(config: EnvironmentConfig, model: Model) -> list[cloudwatch.IWidget]:
    """Return the graphs of one model's cache: what it saves, and why it does not."""
    name, environment = model.name, config.name

    def of(what: str, label: str, service: str = "api", whose: str = name) -> cloudwatch.Metric:
        found = metric(what, environment, statistic="Sum", model=whose, service=service)
        return found.with_(label=label)

    hits, misses = of("CacheHits", "hits"), of("CacheMisses", "misses")
    return [
        cloudwatch.GraphWidget(
            title=f"{name}: answered from the cache, %",
            left=[ratio(hits, misses)],
            left_y_axis=cloudwatch.YAxisProps(min=0, max=100),
            width=6,
            height=6,
        ),
        _graph(
            f"{name}: hits and misses",
            hits,
            misses,
            of("CacheHits", "found by a worker", "worker"),
            of("NegativeHits", "remembered failures"),
            of("NegativeHits", "the same, found by a worker", "worker"),
        ),
        _graph(
            f"{name}: past the cache, and renamed",
            of("Bypasses", "past the cache"),
            *(
                metric(
                    "Renamed",
                    environment,
                    statistic="Sum",
                    model=name,
                    service="api",
                    done=done,
                ).with_(label=label)
                for done, label in (("True", "renamed"), ("False", "not renamed"))
            ),
        ),
        _graph(
            f"{name}: made anew, and declared void",
            each("begun", "Refreshes", environment, model=name, service="api"),
            of("Invalidations", "declared void", "worker"),
            of("Invalidations", "declared void, of a partner", "worker", OF_A_PARTNER),
        ),
    ]


def _graph(title: str, *metrics: cloudwatch.IMetric) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=6, height=6)
