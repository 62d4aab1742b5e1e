"""The network: two zones, a way out to the vendors, and none in."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.environment import EnvironmentConfig
from infra.functions import Placement, removal, retention

CACHE_PORTS = ec2.Port.tcp_range(6379, 6380)
"""Valkey's writer and reader endpoints
(docs.aws.amazon.com/AmazonElastiCache/latest/dg/set-up.html)."""


class Network(Construct):
    """VPC, endpoints and the two security groups: functions, and the cache they alone reach."""

    def __init__(self, scope: Construct, construct_id: str, *, config: EnvironmentConfig) -> None:
        super().__init__(scope, construct_id)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            vpc_name=config.named("vpc"),
            availability_zones=list(config.availability_zones),
            nat_gateways=config.nat_gateways,
            # Nothing is put in the default group; emptying it would take a function of its own.
            restrict_default_security_group=False,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=24,
                    map_public_ip_on_launch=False,
                ),
                ec2.SubnetConfiguration(
                    name="private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=20
                ),
            ],
            # Free, and what they carry does not pay for the NAT gateway
            # (docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html).
            gateway_endpoints={
                "DynamoDb": ec2.GatewayVpcEndpointOptions(
                    service=ec2.GatewayVpcEndpointAwsService.DYNAMODB
                ),
                "S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3),
            },
        )
        self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                logs.LogGroup(
                    self,
                    "FlowLogs",
                    log_group_name=f"/tidegate/{config.name}/flow",
                    retention=retention(config),
                    removal_policy=removal(config),
                )
            ),
            traffic_type=ec2.FlowLogTrafficType.REJECT,
        )
        functions = ec2.SecurityGroup(
            self, "Functions", vpc=self.vpc, description="Functions that read the cache"
        )
        self.cache_group = ec2.SecurityGroup(
            self,
            "Cache",
            vpc=self.vpc,
            description="The cache: reached by the functions, reaching nothing",
            allow_all_outbound=False,
        )
        self.cache_group.add_ingress_rule(functions, CACHE_PORTS, "Valkey over TLS")
        self.placement = Placement(self.vpc, functions)
