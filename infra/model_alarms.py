"""What calls operators about one model: its jobs, its worker, and its vendor."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs

from infra.alarms import Alarms
from infra.environment import EnvironmentConfig
from infra.metrics import metric
from infra.model import Model

_MINUTE = Duration.minutes(1)
_FIVE_MINUTES = Duration.minutes(5)

QUEUE_AGE = 900
"""Seconds a message may wait before somebody is told."""

PAUSE = 120
"""Seconds of a pause after which somebody is told: seven refusals in a row are shorter."""

STILL = 4
"""Periods of five minutes in which an alarm about a pause goes on ringing: while a vendor account
is in trouble the model asks again every fifteen minutes, and each time would be a new alarm."""

REDIS_MINUTES = 3
"""Minutes of the last five with Redis out of reach, before somebody is told: a replaced node is
back sooner."""


def add_model_alarms(alarms: Alarms, config: EnvironmentConfig, model: Model) -> None:
    """Add the alarms of one model."""
    _job_alarms(alarms, model)
    _pace_alarms(alarms, config, model)
    alarms.add(
        f"{model.name}-errors",
        model.worker.metric_errors(period=_FIVE_MINUTES, statistic="Sum"),
        above=0,
        says=f"The worker of {model.name} crashed or ran out of time",
    )


def _job_alarms(alarms: Alarms, model: Model) -> None:
    # Redriven messages are not in NumberOfMessagesSent, and one is one too many:
    # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    alarms.add(
        f"{model.name}-dlq",
        model.queues.dlq.metric_approximate_number_of_messages_visible(
            period=_MINUTE, statistic="Maximum"
        ),
        above=0,
        says=f"Jobs of {model.name} are in its dead-letter queue",
    )
    alarms.add(
        f"{model.name}-age",
        _age(model.queues.normal),
        above=QUEUE_AGE,
        says=f"Jobs of {model.name} wait longer than {QUEUE_AGE} s",
        periods=5,
    )
    # Jobs of low priority are made to wait, but not until their time is up.
    low = max(QUEUE_AGE, model.entry.deadline // 2)
    alarms.add(
        f"{model.name}-low-age",
        _age(model.queues.low),
        above=low,
        says=(
            f"Jobs of {model.name} of low priority wait longer than {low} s; they expire "
            f"{model.entry.deadline} s after they were accepted. More work than shares.low allows, "
            "or nobody works on it"
        ),
        periods=5,
    )


def _age(queue: sqs.Queue) -> cloudwatch.Metric:
    return queue.metric_approximate_age_of_oldest_message(period=_MINUTE, statistic="Maximum")


def _pace_alarms(alarms: Alarms, config: EnvironmentConfig, model: Model) -> None:
    name = model.name

    def of(what: str, statistic: str, period: Duration) -> cloudwatch.Metric:
        return metric(
            what, config.name, statistic=statistic, period=period, model=name, service="worker"
        )

    alarms.add(
        f"{name}-account",
        of("VendorAccountRefused", "Sum", _FIVE_MINUTES),
        above=0,
        says=(
            f"{model.entry.vendor} refuses the account that {name} uses (401, 402 or 403): the "
            "model is paused, no job is lost before its deadline. Renew the key in "
            f"{config.vendors[model.entry.vendor].secret} or pay the bill, then resume the model"
        ),
        periods=1,
        of=STILL,
    )
    # A wave of refusals now and then is met by a pause; one that keeps coming back is a setting.
    alarms.add(
        f"{name}-throttled",
        of("Throttled", "Sum", _FIVE_MINUTES),
        above=0,
        says=(
            f"{model.entry.vendor} keeps asking {name} to slow down (429, or 503 or 529 with a "
            f"wait): its limits in models.{name}.pace are higher than the account's, somebody else "
            "uses the account too, or the vendor is overloaded. Compare, and lower them"
        ),
        periods=3,
        of=6,
    )
    # Jobs of a paused model come as new messages time and again: their age tells nothing.
    alarms.add(
        f"{name}-paused",
        of("Pause", "Maximum", _FIVE_MINUTES),
        above=PAUSE * 1000,
        says=(
            f"{name} is paused for more than {PAUSE} s, because {model.entry.vendor} asked for it "
            "or has refused many times in a row. Jobs wait until their deadlines; look at the "
            "vendor's status and limits. A pause that is not needed ends when the model is resumed"
        ),
        periods=1,
        of=STILL,
    )
    alarms.add(
        f"{name}-redis",
        of("CacheUnavailable", "Sum", _MINUTE),
        above=0,
        says=(
            f"Workers of {name} cannot reach Redis, so they call nobody; jobs wait until their "
            "deadlines. Look at the cache's status, its ECPU limit and its security group; work "
            "goes on by itself when it is back"
        ),
        periods=REDIS_MINUTES,
        of=5,
    )
