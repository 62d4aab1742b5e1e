"""Our cache, put together once more by AWS's own construct library, which refuses what AWS does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Size, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticache_alpha as elasticache

from tests.infrastructure.synthesis import Resource, new_app

Resources = Mapping[str, Resource]
"""A template's resources by logical id."""


def of_type(resources: Resources, kind: str) -> dict[str, dict[str, Any]]:
    """Return the properties of an ElastiCache resource's like, by logical id."""
    return {
        logical: resource["Properties"]
        for logical, resource in resources.items()
        if resource["Type"] == f"AWS::ElastiCache::{kind}"
    }


def rebuilt(ours: Resources, folder: Path) -> Resources:
    """Return the library's resources for the users, the group and the cache in `ours`.

    Raises:
        RuntimeError: the library refuses them; it says why.
    """
    app = new_app(folder)
    stack = Stack(app, "rebuilt")
    users = {name: _user(stack, name, user) for name, user in of_type(ours, "User").items()}
    groups = {
        name: elasticache.UserGroup(
            stack,
            name,
            engine=elasticache.UserEngine.of(group["Engine"]),
            user_group_name=group["UserGroupId"],
            users=[users[user["Ref"]] for user in group["UserIds"]],
        )
        for name, group in of_type(ours, "UserGroup").items()
    }
    vpc = ec2.Vpc(stack, "Vpc")
    for name, cache in of_type(ours, "ServerlessCache").items():
        _cache(stack, name, cache, groups, vpc)
    template = app.synth().get_stack_by_name("rebuilt").template
    resources: Resources = template["Resources"]
    return resources


def _user(stack: Stack, name: str, user: dict[str, Any]) -> elasticache.IUser:
    mode = user["AuthenticationMode"]["Type"]
    kinds: dict[str, Any] = {
        "iam": elasticache.IamUser,
        "no-password-required": elasticache.NoPasswordUser,
    }
    made: elasticache.IUser = kinds[mode](
        stack,
        name,
        engine=elasticache.UserEngine.of(user["Engine"]),
        user_id=user["UserId"],
        user_name=user["UserName"],
        access_control=elasticache.AccessControl.from_access_string(user["AccessString"]),
    )
    return made


def _cache(
    stack: Stack,
    name: str,
    cache: dict[str, Any],
    groups: Mapping[str, elasticache.IUserGroup],
    vpc: ec2.IVpc,
) -> None:
    storage = cache["CacheUsageLimits"]["DataStorage"]
    assert storage["Unit"] == "GB"
    snapshots = cache.get("SnapshotRetentionLimit")
    elasticache.ServerlessCache(
        stack,
        name,
        serverless_cache_name=cache["ServerlessCacheName"],
        description=cache["Description"],
        engine=elasticache.CacheEngine.of(cache["Engine"], cache["MajorEngineVersion"]),
        cache_usage_limits=elasticache.CacheUsageLimitsProperty(
            data_storage_maximum_size=Size.gibibytes(storage["Maximum"]),
            request_rate_limit_maximum=cache["CacheUsageLimits"]["ECPUPerSecond"]["Maximum"],
        ),
        backup=(
            None
            if snapshots is None
            else elasticache.BackupSettings(backup_retention_limit=snapshots)
        ),
        user_group=groups[cache["UserGroupId"]["Ref"]],
        vpc=vpc,
    )
