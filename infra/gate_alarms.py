"""What calls operators about the gate: answers that fail more often, and answers nobody can judge.

One answer that fails calls nobody: it is evidence, and waits. What calls is that a model fails
more often than it did, that many fail in an hour, or that too many wait to be decided on.
"""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import Alarms
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.metrics import judged, metric, share_failed
from infra.model import Model

_MINUTE = Duration.minutes(1)
_HOUR = Duration.hours(1)
_LOOK = Duration.minutes(15)

ENOUGH = 10
"""Answers judged in a period from which on a share of them says anything."""

RATIO = 0.1
"""Share of a model's answers that may fail before somebody is told, whatever is usual for it."""

DEVIATIONS = 3
"""Standard deviations above what is usual for a model that are still chance."""

PERIODS = 3
"""Periods that must be unusual, one after the other. With ten answers in each, one that fails is
far above a usual half per cent; three times running that is hardly chance."""

MANY = 10
"""Answers of all models quarantined in an hour, before somebody is told."""

BACKLOG = 100
"""Answers waiting to be decided on, before somebody is told."""

REFERENCES_MINUTES = 3
"""Minutes of the last five without references, before somebody is told."""


def add_gate_alarms(alarms: Alarms, config: EnvironmentConfig, model: Model) -> None:
    """Add what tells about one model's answers at the gate."""
    contract = model.entry.contract
    if contract is not None and contract.references:
        _references_alarm(alarms, config, model, sorted({one.set for one in contract.references}))
    # The emulator's CloudFormation takes no alarm on an expression; nobody is told there anyway.
    if not config.is_local:
        _ratio_alarms(alarms, config, model)


def add_quarantine_alarms(alarms: Alarms, data: Data) -> None:
    """Add what tells about the quarantine queue: one message for each answer not decided on."""
    queue = data.quarantine
    alarms.add(
        "quarantine-growing",
        queue.metric_number_of_messages_sent(period=_HOUR, statistic="Sum"),
        above=MANY,
        says=(
            f"More than {MANY} answers were quarantined in an hour. See which model's: graphs "
            "'judged' of the dashboard, then `tidegate quarantine list`. If one model fails so "
            "often, pause it (`tidegate models pause`): each answer that fails is paid for"
        ),
    )
    # Not the age of the oldest: SQS leaves out what was received three times, and each decision
    # reads through the queue. It hides messages meanwhile, so the most of an hour counts.
    alarms.add(
        "quarantine-backlog",
        queue.metric_approximate_number_of_messages_visible(period=_HOUR, statistic="Maximum"),
        above=BACKLOG,
        says=(
            f"More than {BACKLOG} quarantined answers wait for a decision. Look at them "
            "(`tidegate quarantine list`) and release or discard them: messages end after 14 days, "
            "records after 30"
        ),
    )


def _ratio_alarms(alarms: Alarms, config: EnvironmentConfig, model: Model) -> None:
    name = model.name
    using: dict[str, cloudwatch.IMetric] = {
        "n": judged(config.name, name, _LOOK),
        "share": share_failed(config.name, name, _LOOK),
    }
    todo = (
        f"Compare `version` and `answered_by` in the records (`tidegate quarantine list --model "
        f"{name}`, then `show`) with those of before: a vendor may change a model and tell nobody. "
        f"Pause it (`tidegate models pause {name}`), mend the entry and raise models.{name}.version"
    )
    alarms.add(
        f"{name}-quarantine-ratio",
        cloudwatch.MathExpression(
            # 0 and not nothing: else the last period that had enough would go on ringing.
            expression=f"IF(n >= {ENOUGH}, share, 0)",
            using_metrics=using,
            label="share quarantined",
            period=_LOOK,
        ),
        above=RATIO,
        says=f"More than {RATIO:.0%} of the answers of {name} fail the gate. {todo}",
    )
    alarms.add_unlike_before(
        f"{name}-quarantine-jump",
        cloudwatch.MathExpression(
            # Nothing and not 0: a night with few answers would teach that none fail.
            expression=f"IF(n >= {ENOUGH}, share)",
            using_metrics=using,
            label="share quarantined",
            period=_LOOK,
        ),
        deviations=DEVIATIONS,
        says=(
            f"More answers of {name} fail the gate than is usual for it, for "
            f"{PERIODS * 15} minutes. {todo}. The alarm ends by itself once it is used to it"
        ),
        periods=PERIODS,
    )


def _references_alarm(
    alarms: Alarms, config: EnvironmentConfig, model: Model, sets: list[str]
) -> None:
    name = model.name
    alarms.add(
        f"{name}-references",
        metric(
            "ReferencesUnavailable",
            config.name,
            statistic="Sum",
            period=_MINUTE,
            model=name,
            service="worker",
        ),
        above=0,
        says=(
            f"Workers of {name} cannot look up what its answers refer to ({', '.join(sets)}), so "
            "they call nobody; jobs wait until their deadlines. See `code` in the log "
            "references_unavailable: reference_set_missing is a set that was never loaded "
            "(`tidegate references load`) or is empty; else look at the references table or "
            "PostgreSQL. Work goes on by itself"
        ),
        periods=REFERENCES_MINUTES,
        of=5,
    )
