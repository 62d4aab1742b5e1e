"""What all functions share: runtime, layers, logging, and a role that may only write its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import build
from infra.environment import EnvironmentConfig
from infra.policy import acknowledge


@dataclass(frozen=True, slots=True)
class Placement:
    """Where in the network functions that read the cache run."""

    vpc: ec2.IVpc
    group: ec2.ISecurityGroup


class FunctionFactory(Construct):
    """Makes functions that differ only in package, timeout, memory and settings."""

    def __init__(
        self, scope: Construct, construct_id: str, *, config: EnvironmentConfig, root: Path
    ) -> None:
        super().__init__(scope, construct_id)
        acknowledge(
            self,
            {"AwsSolutions-L1": "3.13 until all dependencies have proved themselves on 3.14."},
        )
        self._config = config
        self._root = root
        self._target = target = build.Target(config.python_platform)
        # Graviton: a fifth cheaper per GB-second than x86 (aws.amazon.com/lambda/pricing).
        self._architecture = (
            lambda_.Architecture.ARM_64 if config.python_platform else lambda_.Architecture.X86_64
        )
        library = build.library(root, target, config.overlay)
        self._layers = [
            self._layer("Library", library, "The library and its catalogue"),
            self._layer("Dependencies", build.dependencies(root, target), "Third-party packages"),
        ]

    def function(
        self,
        name: str,
        *,
        package: str,
        timeout: int,
        memory: int,
        environment: Mapping[str, str],
        placement: Placement | None = None,
        reserved: int | None = None,
        loops: bool = False,
    ) -> lambda_.Function:
        """Return a new function `tidegate-<env>-<name>` running `<package>.handler.handler`.

        Args:
            name: what the function is called; its role and log group follow.
            package: folder below `functions/`; the only one in the function's code.
            timeout: seconds.
            memory: MB; the share of a CPU follows from it.
            environment: settings beside those every function has.
            placement: the network it runs in; None is outside any.
            reserved: executions at once at most, and kept free for it.
            loops: whether it means to send to what invokes it; else Lambda stops it after some 16
                rounds (docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
        """
        physical = self._config.named(name)
        scope = Construct(self, name)
        group = logs.LogGroup(
            scope,
            "Log",
            log_group_name=f"/aws/lambda/{physical}",
            retention=retention(self._config),
            removal_policy=removal(self._config),
        )
        return lambda_.Function(
            scope,
            "Function",
            function_name=physical,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=self._architecture,
            handler=f"{package}.handler.handler",
            code=lambda_.Code.from_asset(str(build.function(self._root, self._target, package))),
            layers=self._layers,
            role=self._role(scope, group, in_vpc=placement is not None),
            timeout=Duration.seconds(timeout),
            memory_size=memory,
            reserved_concurrent_executions=reserved,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if loops else None,
            log_group=group,
            # docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html
            logging_format=lambda_.LoggingFormat.JSON,
            # The runtime gives it to every library's logger; ours write nothing below INFO.
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            environment={
                "TIDEGATE_ENV": self._config.name,
                "POWERTOOLS_SERVICE_NAME": package,
                **environment,
            },
            vpc=placement.vpc if placement else None,
            vpc_subnets=(
                ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
                if placement
                else None
            ),
            security_groups=[placement.group] if placement else None,
        )

    def _layer(self, construct_id: str, folder: Path, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=lambda_.Code.from_asset(str(folder)),
            compatible_runtimes=[lambda_.Runtime.PYTHON_3_13],
            compatible_architectures=[self._architecture],
            description=description,
        )

    @staticmethod
    def _role(scope: Construct, group: logs.LogGroup, *, in_vpc: bool) -> iam.Role:
        """Return a role of our own: AWS's managed ones may write every log group there is."""
        role = iam.Role(
            scope,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        group.grant_write(role)
        if in_vpc:
            # What Lambda's network interfaces need; they have no name to narrow it to yet:
            # https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
            role.add_to_policy(
                iam.PolicyStatement(
                    actions=[
                        "ec2:CreateNetworkInterface",
                        "ec2:DescribeNetworkInterfaces",
                        "ec2:DescribeSubnets",
                        "ec2:DeleteNetworkInterface",
                        "ec2:AssignPrivateIpAddresses",
                        "ec2:UnassignPrivateIpAddresses",
                    ],
                    resources=["*"],
                )
            )
            acknowledge(
                role,
                {"AwsSolutions-IAM5[Resource::*]": "Network interfaces do not exist beforehand."},
            )
        return role


def removal(config: EnvironmentConfig) -> RemovalPolicy:
    """Return what happens to data when its stack goes."""
    return RemovalPolicy.RETAIN if config.protected else RemovalPolicy.DESTROY


def retention(config: EnvironmentConfig) -> logs.RetentionDays:
    """Return how long logs are kept."""
    return {
        1: logs.RetentionDays.ONE_DAY,
        7: logs.RetentionDays.ONE_WEEK,
        30: logs.RetentionDays.ONE_MONTH,
        365: logs.RetentionDays.ONE_YEAR,
    }[config.log_days]
