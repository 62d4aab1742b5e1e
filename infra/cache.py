"""ElastiCache Serverless for Valkey: cache, lease and pace. It holds only what may be lost."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_elasticache as elasticache
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.environment import CacheLimits, EnvironmentConfig
from infra.network import Network

_ENGINE = "valkey"


@dataclass(frozen=True, slots=True)
class CacheAccess:
    """How functions reach the cache, and the grant they need to."""

    url: str
    user: str | None = None
    cache: str | None = None
    arns: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings a function that reads the cache is given."""
        settings = {"REDIS_URL": self.url}
        if self.user and self.cache:
            settings |= {"REDIS_IAM_USER": self.user, "REDIS_IAM_CACHE": self.cache}
        return settings

    def grant(self, role: iam.IGrantable) -> None:
        """Let a role connect: both the cache and the user must allow it
        (docs.aws.amazon.com/AmazonElastiCache/latest/dg/auth-iam.html).
        """
        if self.arns:
            iam.Grant.add_to_principal(
                grantee=role, actions=["elasticache:Connect"], resource_arns=list(self.arns)
            )


class Cache(Construct):
    """One serverless cache (always cluster mode, always TLS) with one IAM user."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: EnvironmentConfig,
        limits: CacheLimits,
        network: Network,
    ) -> None:
        super().__init__(scope, construct_id)
        name = config.named("cache")
        # With IAM the user's id is its name, and the token names it in lower case.
        user_id = config.named("functions")
        user = elasticache.CfnUser(
            self,
            "User",
            engine=_ENGINE,
            user_id=user_id,
            user_name=user_id,
            # Scripts, yes; FLUSHALL, KEYS, CONFIG, no.
            access_string="on ~* +@all -@admin -@dangerous",
            authentication_mode={"Type": "iam"},
        )
        # No user called default: a group of this engine turns it off by itself, and takes no user
        # without a password (docs.aws.amazon.com/AmazonElastiCache/latest/dg/Clusters.RBAC.html).
        group = elasticache.CfnUserGroup(
            self,
            "Users",
            engine=_ENGINE,
            user_group_id=config.named("users"),
            user_ids=[user.ref],
        )
        cache = elasticache.CfnServerlessCache(
            self,
            "Cache",
            serverless_cache_name=name,
            description="Tidegate: result cache, leases and pace; may be lost at any time",
            engine=_ENGINE,
            major_engine_version="8",
            cache_usage_limits=elasticache.CfnServerlessCache.CacheUsageLimitsProperty(
                data_storage=elasticache.CfnServerlessCache.DataStorageProperty(
                    maximum=limits.gigabytes, unit="GB"
                ),
                ecpu_per_second=elasticache.CfnServerlessCache.ECPUPerSecondProperty(
                    maximum=limits.ecpu_per_second
                ),
            ),
            # From 1 to 35; none is said by saying nothing.
            snapshot_retention_limit=limits.snapshots or None,
            security_group_ids=[network.cache_group.security_group_id],
            subnet_ids=[subnet.subnet_id for subnet in network.vpc.private_subnets],
            user_group_id=group.ref,
        )
        arn = f"arn:{Aws.PARTITION}:elasticache:{config.region}:{Aws.ACCOUNT_ID}"
        self.access = CacheAccess(
            url=f"rediss+cluster://{cache.attr_endpoint_address}:{cache.attr_endpoint_port}",
            user=user_id,
            cache=name,
            arns=(f"{arn}:serverlesscache:{name}", f"{arn}:user:{user_id}"),
        )
