"""How an alarm is made: its name, what it says, and whom it tells."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.environment import EnvironmentConfig


class Alarms:
    """Adds alarms to a construct; in the cloud they tell a topic when they ring and when not."""

    def __init__(self, scope: Construct, config: EnvironmentConfig) -> None:
        self._scope = scope
        self._config = config
        self._action = None if config.is_local else actions.SnsAction(self._topic())

    def add(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        *,
        above: float | None,
        says: str,
        periods: int = 1,
        of: int | None = None,
    ) -> None:
        """Add an alarm that rings `above` a value or, where that is None, when there is nothing.

        Args:
            name: of the alarm, without the environment's prefix.
            metric: what is looked at, once a period.
            above: the value that is still well.
            says: what is wrong and, where a name does not tell, what to do.
            periods: how many must be bad.
            of: the last periods among which they must be; None: these follow one another.
        """
        compare, treat = cloudwatch.ComparisonOperator, cloudwatch.TreatMissingData
        alarm = cloudwatch.Alarm(
            self._scope,
            name,
            alarm_name=self._config.named(name),
            alarm_description=says,
            metric=metric,
            threshold=1 if above is None else above,
            comparison_operator=(
                compare.LESS_THAN_THRESHOLD if above is None else compare.GREATER_THAN_THRESHOLD
            ),
            evaluation_periods=of or periods,
            datapoints_to_alarm=periods if of else None,
            # An idle queue or function reports nothing; that is no emergency. A clock's silence is.
            treat_missing_data=treat.BREACHING if above is None else treat.NOT_BREACHING,
        )
        self._tell(alarm)

    def add_unlike_before(
        self, name: str, metric: cloudwatch.IMetric, *, deviations: float, says: str, periods: int
    ) -> None:
        """Add an alarm that rings above what the metric's own past leads to expect.

        CloudWatch learns what is usual from up to two weeks, by hour and weekday, and goes on
        learning; it makes the model it needs by itself
        (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Anomaly_Detection.html).

        Args:
            name: of the alarm, without the environment's prefix.
            metric: what is looked at, once a period.
            deviations: standard deviations above what is expected that are still well.
            says: what is wrong and what to do.
            periods: how many, one after the other, must be bad.
        """
        alarm = cloudwatch.AnomalyDetectionAlarm(
            self._scope,
            name,
            alarm_name=self._config.named(name),
            alarm_description=says,
            metric=metric,
            std_devs=deviations,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_UPPER_THRESHOLD,
            evaluation_periods=periods,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        self._tell(alarm)

    def _tell(self, alarm: cloudwatch.Alarm) -> None:
        if self._action:
            alarm.add_alarm_action(self._action)
            alarm.add_ok_action(self._action)

    def _topic(self) -> sns.Topic:
        """Return the topic, to which CloudWatch may publish the alarms of this account.

        Its policy must say so: `enforce_ssl` writes one, and it replaces SNS's own, by which they
        might (repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger). The key must
        be ours, and let CloudWatch use it, which AWS's own for SNS does not
        (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html).
        """
        cloudwatch_alarms = iam.ServicePrincipal("cloudwatch.amazonaws.com")
        key = kms.Key(
            self._scope, "TopicKey", enable_key_rotation=True, description="Tidegate's alarm topic"
        )
        # No condition here: nobody but the topic uses the key, and the topic asks for the account.
        key.grant(cloudwatch_alarms, "kms:Decrypt", "kms:GenerateDataKey*")
        topic = sns.Topic(
            self._scope,
            "Alarms",
            topic_name=self._config.named("alarms"),
            master_key=key,
            enforce_ssl=True,
        )
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AllowAlarmsOfThisAccount",
                principals=[cloudwatch_alarms],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        return topic
