"""What calls operators, of every model, the API and repair; and a dashboard."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.alarms import Alarms
from infra.api import Api
from infra.dashboard import api_row, cache_row, gate_row, model_row, pace_row, repair_row
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.gate_alarms import add_gate_alarms, add_quarantine_alarms
from infra.metrics import metric
from infra.model import Model
from infra.model_alarms import add_model_alarms
from infra.repair import Repair

_MINUTE = Duration.minutes(1)
_FIVE_MINUTES = Duration.minutes(5)

ASKING = ("api", "worker", "sweeper", "replay")
"""Functions that write to stores and queues."""

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
        self._alarms = Alarms(self, config)
        self._api_alarms(api)
        add_quarantine_alarms(self._alarms, data)
        self._repair_alarms(repair)
        self._defect_alarms(config)
        for model in models:
            add_model_alarms(self._alarms, config, model)
            add_gate_alarms(self._alarms, config, model)
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
            dashboard.add_widgets(*pace_row(config, model))
            dashboard.add_widgets(*gate_row(config, model))
            dashboard.add_widgets(*cache_row(config, model))

    def _api_alarms(self, api: Api) -> None:
        self._alarms.add(
            "api-5xx",
            api.metric_failures(_FIVE_MINUTES),
            above=0,
            says="The API answered 500, 502 or 503",
        )

    def _repair_alarms(self, repair: Repair) -> None:
        self._alarms.add(
            "sweeper-errors",
            repair.sweeper.metric_errors(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says="The sweeper crashed or ran out of time",
        )
        self._alarms.add(
            "sweeper-silent",
            repair.sweeper.metric_invocations(period=_MINUTE, statistic="Sum"),
            above=None,
            says=f"The sweeper has not begun for {SILENCE} minutes: nothing is put right",
            periods=SILENCE,
        )
        self._alarms.add(
            "replay-errors",
            repair.replay.metric_errors(period=_FIVE_MINUTES, statistic="Sum"),
            above=0,
            says="A replay crashed or ran out of time; it can be started again",
        )

    def _defect_alarms(self, config: EnvironmentConfig) -> None:
        """Add one alarm per function that asks stores: a metric is found by all its dimensions."""
        for service in ASKING:
            self._alarms.add(
                f"{service}-defects",
                metric(
                    "Defects", config.name, statistic="Sum", period=_FIVE_MINUTES, service=service
                ),
                above=0,
                says=(
                    f"AWS refused what {service} asked as wrong: a mistake of ours that does not "
                    "pass; its log says which, at `defect`"
                ),
            )
