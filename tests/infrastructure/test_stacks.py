"""Stacks by lifetime, and what protects the data in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.infrastructure.synthesis import ENVIRONMENTS, Synthesis, synthesise

STATEFUL = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret")


def _table(every: Synthesis, name: str) -> dict[str, Any]:
    return every.one_of("AWS::DynamoDB::Table", TableName=every.config.named(name))


def _types(table: dict[str, Any]) -> dict[str, str]:
    """Return the type of each attribute that is a key."""
    return {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}


def test_the_cloud_has_four_stacks_and_a_laptop_two(
    environment: Callable[[str], Synthesis],
) -> None:
    parts = {name: set(environment(name).templates) for name in ENVIRONMENTS}
    assert parts.pop("local") == {"data", "service"}
    assert all(found == {"network", "cache", "data", "service"} for found in parts.values())


def test_the_emulator_is_asked_for_nothing_it_lacks(local: Synthesis) -> None:
    for absent in ("AWS::EC2::VPC", "AWS::EC2::NatGateway", "AWS::ElastiCache::ServerlessCache"):
        assert not local.all_of(absent)
    for function in local.all_of("AWS::Lambda::Function").values():
        assert "VpcConfig" not in function["Properties"]


def test_only_the_data_stack_holds_what_must_outlive_a_deployment(every: Synthesis) -> None:
    for kind in STATEFUL:
        assert every.all_of(kind) == every.all_of(kind, "data")


def test_tables_are_on_demand_and_keyed_alike(every: Synthesis) -> None:
    assert len(every.all_of("AWS::DynamoDB::Table")) == 4
    for name in ("jobs", "ledger", "partners", "references"):
        table = _table(every, name)
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
        assert _types(table)["pk"] == _types(table)["sk"] == "S"


def test_jobs_and_keys_expire_and_money_and_references_never_do(every: Synthesis) -> None:
    for name in ("jobs", "partners"):
        expiry = _table(every, name)["TimeToLiveSpecification"]
        assert expiry == {"AttributeName": "expires_at", "Enabled": True}
    for name in ("ledger", "references"):
        assert "TimeToLiveSpecification" not in _table(every, name)


def test_what_is_due_is_found_by_shard_and_time(every: Synthesis) -> None:
    table = _table(every, "jobs")
    (index,) = table["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "due"
    assert index["KeySchema"] == [
        {"AttributeName": "due_shard", "KeyType": "HASH"},
        {"AttributeName": "due_at", "KeyType": "RANGE"},
    ]
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert (_types(table)["due_shard"], _types(table)["due_at"]) == ("S", "N")
    for name in ("ledger", "partners"):
        assert "GlobalSecondaryIndexes" not in _table(every, name)


def test_prod_keeps_its_data_whatever_happens_to_its_stacks(prod: Synthesis) -> None:
    kept = [r for kind in (*STATEFUL, "AWS::Logs::LogGroup") for r in prod.all_of(kind).values()]
    dlqs = [
        queue
        for queue in prod.all_of("AWS::SQS::Queue").values()
        if queue["Properties"]["QueueName"].endswith(("-dlq", "-quarantine"))
    ]
    for resource in kept + dlqs:
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    for table in prod.all_of("AWS::DynamoDB::Table").values():
        assert table["Properties"]["DeletionProtectionEnabled"] is True
        recovery = table["Properties"]["PointInTimeRecoverySpecification"]
        assert recovery["PointInTimeRecoveryEnabled"] is True


def test_dev_leaves_nothing_behind(environment: Callable[[str], Synthesis]) -> None:
    dev = environment("dev")
    for kind in STATEFUL:
        for resource in dev.all_of(kind).values():
            assert resource["DeletionPolicy"] == "Delete"


def test_prod_survives_the_loss_of_a_zone(environment: Callable[[str], Synthesis]) -> None:
    assert len(environment("prod").all_of("AWS::EC2::NatGateway")) == 2
    assert len(environment("dev").all_of("AWS::EC2::NatGateway")) == 1
    for name in ("dev", "staging", "prod"):
        subnets = environment(name).all_of("AWS::EC2::Subnet").values()
        zones = {subnet["Properties"]["AvailabilityZone"] for subnet in subnets}
        assert zones == {"us-east-1a", "us-east-1b"}


def test_tables_and_buckets_are_reached_without_the_nat_gateway(cloud: Synthesis) -> None:
    services = str([e["Properties"] for e in cloud.all_of("AWS::EC2::VPCEndpoint").values()])
    assert ".dynamodb" in services
    assert ".s3" in services


def test_everything_that_can_be_tagged_says_whose_it_is(every: Synthesis) -> None:
    want = {"project": "tidegate", "environment": every.config.name}
    for kind in (*STATEFUL, "AWS::SQS::Queue", "AWS::Lambda::Function"):
        for resource in every.all_of(kind).values():
            tags = {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
            assert want.items() <= tags.items()


def test_names_tell_environments_apart(environment: Callable[[str], Synthesis]) -> None:
    for name in ENVIRONMENTS:
        mine = environment(name)
        others = [f"tidegate-{other}" for other in ENVIRONMENTS if other != name]
        text = str(mine.templates)
        assert not [other for other in others if other in text]


def test_outputs_are_what_operators_and_the_local_stack_read(every: Synthesis) -> None:
    data, service = every.templates["data"]["Outputs"], every.templates["service"]["Outputs"]
    tables = {"JobsTable", "LedgerTable", "PartnersTable", "ReferencesTable"}
    assert tables | {"AssetsBucket", "QuarantineUrl"} <= set(data)
    assert set(service) == {"ApiUrl", "ApiId"}


def test_an_account_named_in_full_still_needs_no_credentials(tmp_path: Path) -> None:
    region = "eu-central-1"
    made = synthesise("prod", tmp_path, account="1" * 12, region=region)
    subnets = made.all_of("AWS::EC2::Subnet").values()
    zones = {subnet["Properties"]["AvailabilityZone"] for subnet in subnets}
    assert zones == {f"{region}a", f"{region}b"}
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert not manifest.get("missing"), "CDK would ask AWS for these"
