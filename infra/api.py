"""The front door: REST API, authorizer and api function."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, Duration, Fn
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.cache import CacheAccess
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.functions import FunctionFactory, Placement, removal, retention
from infra.metrics import NAMESPACE
from infra.model import Model
from infra.policy import acknowledge
from infra.problems import add_problem_responses

API_TIMEOUT = 29
"""Seconds: API Gateway waits no longer
(docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html)."""

API_MEMORY = 1024
AUTHORIZER_MEMORY = 512

FAILURES = (500, 502, 503)
"""Statuses of which somebody is told. Not 504: it is the answer to a partner who wanted an answer
from the cache or none, and API Gateway's own timeout is a 503 (`infra/problems.py`)."""

TLS_POLICY = "SecurityPolicy_TLS13_1_2_PQ_2025_09"
"""TLS 1.2 and 1.3 only
(docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies-list.html)."""


class Api(Construct):
    """The API, its stage and the two functions behind it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: EnvironmentConfig,
        data: Data,
        cache: CacheAccess,
        models: Sequence[Model],
        functions: FunctionFactory,
        placement: Placement | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._config = config
        self._access_log = self._log()
        self.rest = self._rest()
        self.url = self._public_url(data)
        self.function = functions.function(
            "api",
            package="api",
            timeout=API_TIMEOUT,
            memory=API_MEMORY,
            placement=placement,
            environment={
                "JOBS_TABLE": data.jobs.table_name,
                "LEDGER_TABLE": data.ledger.table_name,
                "ASSETS_BUCKET": data.assets.bucket_name,
                "QUEUE_URL_PREFIX": data.queue_url_prefix,
                "PUBLIC_URL": self.url,
                **cache.environment,
            },
        )
        data.grant_jobs(self.function)
        data.grant_ledger(self.function, "dynamodb:GetItem")
        # An image's URL reads what the role that signed it may read.
        data.grant_objects(self.function, "assets", "s3:GetObject")
        # A hit under other names has an output of its own, which may be large.
        data.grant_objects(self.function, "outputs", "s3:GetObject", "s3:PutObject")
        for model in models:
            model.queues.grant_send(self.function)
        cache.grant(self.function)
        self.authorizer = functions.function(
            "authorizer",
            package="authorizer",
            timeout=10,
            memory=AUTHORIZER_MEMORY,
            environment={"PARTNERS_TABLE": data.partners.table_name},
        )
        data.partners.grant(self.authorizer, "dynamodb:GetItem")
        self._failures = self._counted_failures()
        self._routes()
        add_problem_responses(self.rest)

    def _rest(self) -> apigateway.RestApi:
        throttle = self._config.throttle
        rest = apigateway.RestApi(
            self,
            "Rest",
            rest_api_name=self._config.named("api"),
            description="Jobs for slow, expensive AI models",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            # Bodies reach the function as the bytes they are, in base64: as text, what is not UTF-8
            # would arrive as U+FFFD, and be accepted
            # (docs.aws.amazon.com/apigateway/latest/developerguide/lambda-proxy-binary-media.html).
            binary_media_types=["application/json"],
            # One role per account and region lets API Gateway write logs at all
            # (docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html).
            cloud_watch_role=not self._config.is_local,
            deploy_options=apigateway.StageOptions(
                stage_name=self._config.name,
                throttling_rate_limit=throttle.rate,
                throttling_burst_limit=throttle.burst,
                metrics_enabled=True,
                # Execution logs at INFO would hold headers and bodies; access logs do not.
                logging_level=apigateway.MethodLoggingLevel.ERROR,
                data_trace_enabled=False,
                access_log_destination=apigateway.LogGroupLogDestination(self._access_log),
                access_log_format=_access_log_format(),
            ),
        )
        # Its output would appear beside ours, which says the same.
        rest.node.try_remove_child("Endpoint")
        child = rest.node.default_child
        assert isinstance(child, apigateway.CfnRestApi)  # noqa: S101
        child.security_policy = TLS_POLICY
        child.endpoint_access_mode = "STRICT"
        acknowledge(
            rest,
            {
                "AwsSolutions-APIG2": "The api function validates bodies, with pointers.",
                "AwsSolutions-APIG3": "No WAF: its managed rules take prompts for attacks.",
                "AwsSolutions-COG4": "Partners are machines with keys, not users of a pool.",
                "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/"
                "AmazonAPIGatewayPushToCloudWatchLogs]": "The role is made for this, by AWS.",
            },
        )
        return rest

    def _public_url(self, data: Data) -> str:
        """Return what partners call, without `/v1`.

        Not `rest.url`: that waits for the stage, which waits for the function this is told to.
        """
        api, stage = self.rest.rest_api_id, self._config.name
        if self._config.is_local:
            emulator = Fn.select(2, Fn.split("/", data.quarantine.queue_url))
            return f"http://{emulator}/restapis/{api}/{stage}/_user_request_"
        return f"https://{api}.execute-api.{self._config.region}.{Aws.URL_SUFFIX}/{stage}"

    def metric_failures(self, period: Duration) -> cloudwatch.Metric:
        """Return how many requests ended with a status of `FAILURES`."""
        return self._failures.metric(statistic="Sum", period=period)

    def _log(self) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            "AccessLog",
            log_group_name=f"/tidegate/{self._config.name}/access",
            retention=retention(self._config),
            removal_policy=removal(self._config),
        )

    def _counted_failures(self) -> logs.MetricFilter:
        """Return a count of failures from the access log: API Gateway's own cannot tell them."""
        statuses = [
            logs.FilterPattern.string_value("$.status", "=", str(status)) for status in FAILURES
        ]
        return self._access_log.add_metric_filter(
            "Failures",
            filter_pattern=logs.FilterPattern.any(*statuses),
            metric_namespace=f"{NAMESPACE}/{self._config.name}",
            metric_name="ApiFailures",
        )

    def _routes(self) -> None:
        integration = apigateway.LambdaIntegration(self.function, allow_test_invoke=False)
        authorizer = apigateway.RequestAuthorizer(
            self,
            "PartnerKey",
            handler=self.authorizer,
            # With a cached answer and no header API Gateway says 401 itself, without a call.
            identity_sources=[apigateway.IdentitySource.header("Authorization")],
            results_cache_ttl=Duration.seconds(self._config.authorizer_ttl),
        )
        self.rest.root.add_resource("v1").add_proxy(
            any_method=True,
            default_integration=integration,
            default_method_options=apigateway.MethodOptions(
                authorizer=authorizer, authorization_type=apigateway.AuthorizationType.CUSTOM
            ),
        )
        health = self.rest.root.add_resource("healthz").add_method("GET", integration)
        acknowledge(health, {"AwsSolutions-APIG4": "Says that it is there, and nothing else."})


def _access_log_format() -> apigateway.AccessLogFormat:
    """Return one JSON object per request; no header, no body, no query string."""
    fields = {
        "request_id": "$context.requestId",
        "time": "$context.requestTimeEpoch",
        "method": "$context.httpMethod",
        "route": "$context.resourcePath",
        "path": "$context.path",
        "status": "$context.status",
        "partner": "$context.authorizer.partner",
        "ip": "$context.identity.sourceIp",
        "response_bytes": "$context.responseLength",
        "latency_ms": "$context.responseLatency",
        "integration_ms": "$context.integrationLatency",
        "error": "$context.error.responseType",
    }
    pairs = ",".join(f'"{name}":"{value}"' for name, value in fields.items())
    return apigateway.AccessLogFormat.custom("{" + pairs + "}")
