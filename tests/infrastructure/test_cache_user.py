"""Who may log in to the cache, and that AWS takes it: its own construct library checks the same."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.infrastructure.construct_library import Resources, of_type, rebuilt
from tests.infrastructure.synthesis import Synthesis

ELSEWHERE = {"Tags", "SubnetIds", "SecurityGroupIds"}
"""What the test's own stack has in its own way."""


def _cache_stack(cloud: Synthesis) -> Resources:
    resources: Resources = deepcopy(cloud.templates["cache"]["Resources"])
    return resources


def _said(resources: Resources, kind: str) -> dict[str, Any]:
    """Return what the only resource of a kind says, with names for references; False is nothing."""
    ((_logical, properties),) = of_type(resources, kind).items()
    return {
        key: _named(value, resources)
        for key, value in properties.items()
        if key not in ELSEWHERE and value is not False
    }


def _named(value: Any, resources: Resources) -> Any:
    """Return a reference as the id it stands for: `Ref` of a user or a group is its id."""
    if isinstance(value, list):
        return [_named(one, resources) for one in value]
    if isinstance(value, dict) and set(value) == {"Ref"}:
        properties = resources[value["Ref"]]["Properties"]
        return properties.get("UserId") or properties["UserGroupId"]
    return value


def test_awss_own_library_takes_our_user_group_and_cache_as_they_are(
    cloud: Synthesis, tmp_path: Path
) -> None:
    ours = _cache_stack(cloud)
    theirs = rebuilt(ours, tmp_path)
    for kind in ("User", "UserGroup", "ServerlessCache"):
        assert _said(theirs, kind) == _said(ours, kind)


def test_nobody_logs_in_but_the_functions_user_which_is_in_the_caches_group(
    cloud: Synthesis,
) -> None:
    ours = _cache_stack(cloud)
    ((user, said),) = of_type(ours, "User").items()
    assert said["AuthenticationMode"] == {"Type": "iam"}
    ((group, members),) = of_type(ours, "UserGroup").items()
    assert members["UserIds"] == [{"Ref": user}]
    ((_cache, cache),) = of_type(ours, "ServerlessCache").items()
    assert cache["UserGroupId"] == {"Ref": group}
    assert {said["Engine"], members["Engine"], cache["Engine"]} == {"valkey"}


def _default_user(ours: Resources) -> None:
    """Add the user that every environment had until AWS was asked."""
    ((_name, user),) = of_type(ours, "User").items()
    ((_group, group),) = of_type(ours, "UserGroup").items()
    default = user | {
        "UserId": user["UserId"].replace("functions", "default"),
        "UserName": "default",
        "AccessString": "off -@all",
        "AuthenticationMode": {"Type": "no-password-required"},
    }
    assert isinstance(ours, dict)
    ours["Default"] = {"Type": "AWS::ElastiCache::User", "Properties": default}
    group["UserIds"].append({"Ref": "Default"})


def _another_name(ours: Resources) -> None:
    ((_name, user),) = of_type(ours, "User").items()
    user["UserName"] = "functions"


def _redis_group(ours: Resources) -> None:
    ((_name, group),) = of_type(ours, "UserGroup").items()
    group["Engine"] = "redis"


def _too_few_ecpu(ours: Resources) -> None:
    ((_name, cache),) = of_type(ours, "ServerlessCache").items()
    cache["CacheUsageLimits"]["ECPUPerSecond"]["Maximum"] = 500


def _no_snapshot(ours: Resources) -> None:
    ((_name, cache),) = of_type(ours, "ServerlessCache").items()
    cache["SnapshotRetentionLimit"] = 0


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (_default_user, "'valkey' does not support no-password"),
        (_another_name, "userName must be equal to userId"),
        (_redis_group, "can only contain Redis users"),
        (_too_few_ecpu, "maximum must be between 1,000"),
        (_no_snapshot, "must be between 1 and 35 days"),
    ],
)
def test_the_library_refuses_what_aws_refuses(
    spoil: Callable[[Resources], None],
    complaint: str,
    prod: Synthesis,
    tmp_path: Path,
) -> None:
    ours = _cache_stack(prod)
    spoil(ours)
    with pytest.raises(RuntimeError, match=complaint):
        rebuilt(ours, tmp_path)
