"""The functions' own metrics, as `tidegate/telemetry.py` writes them."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

NAMESPACE = "Tidegate"

_MINUTE = Duration.minutes(1)


def metric(
    name: str, environment: str, *, statistic: str, period: Duration = _MINUTE, **dimensions: str
) -> cloudwatch.Metric:
    """Return a metric of one environment.

    Args:
        name: as the code counts it.
        environment: whose.
        statistic: such as `Sum`.
        period: what the statistic is of.
        dimensions: all the others, `service` (the function's package) among them: by some of its
            dimensions CloudWatch finds no metric.
    """
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"environment": environment, **dimensions},
        statistic=statistic,
        period=period,
    )


def each(dimension: str, name: str, environment: str, **others: str) -> cloudwatch.MathExpression:
    """Return a metric's sums a minute, one line per value of `dimension`; not for alarms."""
    expression = f"SEARCH('{_found(dimension, name, environment, others)}', 'Sum', 60)"
    # docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/graph-dynamic-labels.html
    return _searched(expression, f"${{PROP('Dim.{dimension}')}}")


def total(
    dimension: str, name: str, environment: str, label: str, **others: str
) -> cloudwatch.MathExpression:
    """Return a metric's sum a minute over all values of `dimension`; not for alarms."""
    expression = f"SUM(SEARCH('{_found(dimension, name, environment, others)}', 'Sum', 60))"
    return _searched(expression, label)


def ratio(part: cloudwatch.Metric, rest: cloudwatch.Metric) -> cloudwatch.MathExpression:
    """Return how much of both, in per cent, one metric is; nothing where there is neither."""
    return cloudwatch.MathExpression(
        # A minute without one of them has no value of it; without FILL it would have no ratio.
        expression="100 * FILL(part, 0) / (FILL(part, 0) + FILL(rest, 0))",
        using_metrics={"part": part, "rest": rest},
        label="%",
        period=_MINUTE,
    )


def judged(environment: str, model: str, period: Duration) -> cloudwatch.Metric:
    """Return how many answers of a model came before the gate in a period."""
    return _verdicts(environment, model, period, "SampleCount").with_(label="judged")


def share_failed(environment: str, model: str, period: Duration) -> cloudwatch.Metric:
    """Return which share of them failed, from 0 to 1; nothing where none came."""
    return _verdicts(environment, model, period, "Average").with_(label="share that failed")


def _verdicts(environment: str, model: str, period: Duration, statistic: str) -> cloudwatch.Metric:
    # 1 for an answer that failed and 0 for one that passed, so one metric tells both.
    return metric(
        "QuarantineRatio",
        environment,
        statistic=statistic,
        period=period,
        model=model,
        service="worker",
    )


def _found(dimension: str, name: str, environment: str, others: dict[str, str]) -> str:
    """Return a search for metrics that have these dimensions and no others."""
    schema = ",".join(sorted({"environment", dimension, *others}))
    given = {"MetricName": name, "environment": environment, **others}
    terms = " ".join(f'{key}="{value}"' for key, value in given.items())
    return f"{{{NAMESPACE},{schema}}} {terms}"


def _searched(expression: str, label: str) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(
        expression=expression, using_metrics={}, label=label, period=_MINUTE
    )
