"""What calls operators: three alarms per model, those of the API and of repair; and a dashboard."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.api import Api
from infra.dashboard import api_row, model_row, repair_row
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.model import Model
from infra.repair import Repair

_MINUTE = Duration.minutes(1)
_FIVE_MINUTES = Duration.minutes(5)

QUEUE_AGE = 900
"""Seconds a message may wait before somebody is told."""

SILENCE = 5
"""Minutes the sweeper, due every minute, may not begin before somebody is told."""


class Monitoring(Construct):
    """Dashboard and alarms; in the cloud, a topic that alarms are sent to."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: EnvironmentConfig,
        api: Api,
        models: Sequence[Model],
        repair: Repair,
        data: Data,
    ) -> None:
        super().__init__(scope, construct_id)
        self._config = config
        self._action = None if config.is_local else actions.SnsAction(self._topic())
        self._api_alarms(api)
        self._quarantine_alarm(data)
        self._repair_alarms(repair)
        for model in models:
            self._model_alarms(model)
        dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=config.named("overview"),
            default_interval=Duration.hours(3),
        )
        dashboard.add_widgets(*api_row(api, data))
        dashboard.add_widgets(*repair_row(config, repair))
        for model in models:
            dashboard.add_widgets(*model_row(model))

    def _topic(self) -> sns.Topic:
        """Return the topic; CloudWatch cannot use a topic under AWS's own SNS key
        (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html).
        """
        key = kms.Key(
            self, "TopicKey", enable_key_rotation=True, description="Tidegate's alarm topic"
        )
        key.grant_encrypt_decrypt(iam.ServicePrincipal("cloudwatch.amazonaws.com"))
        return sns.Topic(
            self,
            "Alarms",
            topic_name=self._config.named("alarms"),
            master_key=key,
            enforce_ssl=True,
        )

    def _model_alarms(self, model: Model) -> None:
        # Redriven messages are not in NumberOfMessagesSent, and one is one too many:
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
        self._alarm(
            f"{model.name}-dlq",
            model.dlq.metric_approximate_number_of_messages_visible(
                period=_MINUTE, statistic="Maximum"
            ),
            above=0,
            says=f"Jobs of {model.name} are in its dead-letter queue",
        )
        self._alarm(
            f"{model.name}-age",
            model.queue.metric_approximate_age_of_oldest_message(
                period=_MINUTE, statistic="Maximum"
            ),
            above=QUEUE_AGE,
            says=f"Jobs of {model.name} wait longer than {QUEUE_AGE} s",
            periods=5,
        )
        self._alarm(
            f"{model.name}-errors",
            model.worker.metric_errors(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says=f"The worker of {model.name} crashed or ran out of time",
        )

    def _api_alarms(self, api: Api) -> None:
        self._alarm(
            "api-5xx",
            api.rest.metric_server_error(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says="The API answered 5xx",
        )

    def _quarantine_alarm(self, data: Data) -> None:
        # Quarantined answers stay until somebody looks: growth is news, depth is not.
        self._alarm(
            "quarantine",
            data.quarantine.metric_number_of_messages_sent(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says="An answer failed the gate and was quarantined",
        )

    def _repair_alarms(self, repair: Repair) -> None:
        self._alarm(
            "sweeper-errors",
            repair.sweeper.metric_errors(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says="The sweeper crashed or ran out of time",
        )
        self._alarm(
            "sweeper-silent",
            repair.sweeper.metric_invocations(period=_MINUTE, statistic="Sum"),
            above=None,
            says=f"The sweeper has not begun for {SILENCE} minutes: nothing is put right",
            periods=SILENCE,
        )
        self._alarm(
            "replay-errors",
            repair.replay.metric_errors(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says="A replay crashed or ran out of time; it can be started again",
        )

    def _alarm(
        self,
        name: str,
        metric: cloudwatch.Metric,
        *,
        above: float | None,
        says: str,
        periods: int = 1,
    ) -> None:
        """Add an alarm that rings `above` a value or, where that is None, when there is nothing."""
        compare, treat = cloudwatch.ComparisonOperator, cloudwatch.TreatMissingData
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=self._config.named(name),
            alarm_description=says,
            metric=metric,
            threshold=1 if above is None else above,
            comparison_operator=(
                compare.LESS_THAN_THRESHOLD if above is None else compare.GREATER_THAN_THRESHOLD
            ),
            evaluation_periods=periods,
            # An idle queue or function reports nothing; that is no emergency. A clock's silence is.
            treat_missing_data=treat.BREACHING if above is None else treat.NOT_BREACHING,
        )
        if self._action:
            alarm.add_alarm_action(self._action)
            alarm.add_ok_action(self._action)
