"""What puts jobs right: the sweeper, every minute, and replay, when an operator asks for it.

Replay carries out decisions about quarantined answers, too: both take an end back.

Neither reads the cache, so neither is in the network: they repair while that is broken, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.functions import FunctionFactory
from infra.model import Model

SWEEP_EVERY = Duration.minutes(1)
"""EventBridge knows no shorter rate
(docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html)."""

SWEEP_TIMEOUT = 55
"""Seconds: one sweep has ended when the next begins."""

REPLAY_TIMEOUT = 900
"""Seconds: the longest a function may run, for replays at a drip rate."""

REPLAY_TIMEOUT_LOCAL = 120

MEMORY = 512

_NOT_LATER = Duration.seconds(60)
"""The least there is. What could not begin in a minute is out of date: the sweeper's next turn has
come, and an operator must not be surprised by a replay of hours ago."""

_TAKING = (
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:GetQueueAttributes",
)
"""What reading through a queue is made of, and removing from it what is settled."""


class Repair(Construct):
    """The two functions that look after every model's jobs, and the sweeper's clock."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: EnvironmentConfig,
        data: Data,
        models: Sequence[Model],
        functions: FunctionFactory,
    ) -> None:
        super().__init__(scope, construct_id)
        replay_timeout = REPLAY_TIMEOUT_LOCAL if config.is_local else REPLAY_TIMEOUT
        self.sweeper = _function("sweeper", SWEEP_TIMEOUT, data, functions)
        self.replay = _function("replay", replay_timeout, data, functions)
        self._grant_sweeper(data, models)
        self._grant_replay(models)
        self._grant_decisions(data)
        events.Rule(
            self,
            "Sweep",
            rule_name=config.named("sweep"),
            description="Has the sweeper look after jobs that are due",
            schedule=events.Schedule.rate(SWEEP_EVERY),
            targets=[
                targets.LambdaFunction(self.sweeper, retry_attempts=0, max_event_age=_NOT_LATER)
            ],
        )

    def _grant_sweeper(self, data: Data, models: Sequence[Model]) -> None:
        data.grant_due(self.sweeper)
        data.quarantine.grant(self.sweeper, "sqs:SendMessage")
        for model in models:
            model.queues.grant_send(self.sweeper)
            model.queues.dlq.grant(self.sweeper, "sqs:SendMessage")

    def _grant_replay(self, models: Sequence[Model]) -> None:
        for model in models:
            model.queues.grant_send(self.replay)
            model.queues.dlq.grant(self.replay, *_TAKING)

    def _grant_decisions(self, data: Data) -> None:
        """Let replay carry out what operators decide about answers that failed the gate.

        Those that stand beside their record need nothing more; the large ones are in the bucket.
        """
        data.quarantine.grant(self.replay, *_TAKING)
        data.grant_objects(self.replay, "quarantine", "s3:GetObject", "s3:DeleteObject")


def _function(name: str, timeout: int, data: Data, functions: FunctionFactory) -> lambda_.Function:
    """Return a function that may move jobs on and settle their money; of package `name`."""
    made = functions.function(
        name,
        package=name,
        timeout=timeout,
        memory=MEMORY,
        # Two at once would do no harm and no good.
        reserved=1,
        environment={
            "JOBS_TABLE": data.jobs.table_name,
            "LEDGER_TABLE": data.ledger.table_name,
            "ASSETS_BUCKET": data.assets.bucket_name,
            "QUEUE_URL_PREFIX": data.queue_url_prefix,
        },
    )
    # Both take up next time what they left this time: Lambda need not try again by itself.
    made.configure_async_invoke(retry_attempts=0, max_event_age=_NOT_LATER)
    data.grant_jobs(made)
    data.grant_ledger(made)
    return made
