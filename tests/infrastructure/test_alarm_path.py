"""Alarms reach the topic they name, through its policy and its key; and what else has a policy."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.infrastructure.alarm_path import CLOUDWATCH, broken_links
from tests.infrastructure.resource_policies import ACCOUNT, Request, allows
from tests.infrastructure.synthesis import Resource, Synthesis

ALARM = "AWS::CloudWatch::Alarm"


def _service(cloud: Synthesis) -> dict[str, Resource]:
    resources: dict[str, Resource] = deepcopy(cloud.templates["service"]["Resources"])
    return resources


def test_every_alarm_reaches_its_topic(cloud: Synthesis) -> None:
    alarms = cloud.all_of(ALARM)
    assert len(alarms) > 5 * len(cloud.catalogue.models)
    assert alarms == cloud.all_of(ALARM, "service")
    broken = {name: broken_links(_service(cloud), name) for name in alarms}
    assert {name: why for name, why in broken.items() if why} == {}


def test_alarms_of_another_account_do_not(cloud: Synthesis) -> None:
    (topic,) = cloud.all_of("AWS::SNS::Topic")
    document = cloud.one_of("AWS::SNS::TopicPolicy")["PolicyDocument"]

    def may_publish(**other: Any) -> bool:
        context = {"aws:SecureTransport": "true", "aws:SourceAccount": ACCOUNT}
        context |= {key.replace("_", ":"): value for key, value in other.items()}
        return allows(document, Request(CLOUDWATCH, "sns:Publish", {"Ref": topic}, context))

    assert may_publish()
    assert not may_publish(aws_SourceAccount="999999999999")
    assert not may_publish(aws_SecureTransport="false")


def _one(resources: dict[str, Resource], kind: str) -> dict[str, Any]:
    (found,) = [one for one in resources.values() if one["Type"] == kind]
    properties: dict[str, Any] = found["Properties"]
    return properties


def _statements(resources: dict[str, Resource], kind: str) -> list[dict[str, Any]]:
    document = "KeyPolicy" if kind == "AWS::KMS::Key" else "PolicyDocument"
    statements: list[dict[str, Any]] = _one(resources, kind)[document]["Statement"]
    return statements


def _denial_alone(resources: dict[str, Resource]) -> None:
    """Leave of the topic's policy what `enforce_ssl` writes."""
    statements = _statements(resources, "AWS::SNS::TopicPolicy")
    statements[:] = [one for one in statements if one["Effect"] == "Deny"]


def _denial_of_all(resources: dict[str, Resource]) -> None:
    for one in _statements(resources, "AWS::SNS::TopicPolicy"):
        if one["Effect"] == "Deny":
            del one["Condition"]


def _other_account(resources: dict[str, Resource]) -> None:
    for one in _statements(resources, "AWS::SNS::TopicPolicy"):
        if one["Effect"] == "Allow":
            one["Condition"] = {"StringEquals": {"aws:SourceAccount": "999999999999"}}


def _key_without_grant(resources: dict[str, Resource]) -> None:
    statements = _statements(resources, "AWS::KMS::Key")
    statements[:] = [one for one in statements if "Service" not in one["Principal"]]


def _key_that_only_decrypts(resources: dict[str, Resource]) -> None:
    for one in _statements(resources, "AWS::KMS::Key"):
        if "Service" in one["Principal"]:
            one["Action"] = "kms:Decrypt"


def _key_of_aws(resources: dict[str, Resource]) -> None:
    _one(resources, "AWS::SNS::Topic")["KmsMasterKeyId"] = "alias/aws/sns"


def _no_action(resources: dict[str, Resource]) -> None:
    for one in resources.values():
        if one["Type"] == ALARM:
            del one["Properties"]["OKActions"]


def _actions_off(resources: dict[str, Resource]) -> None:
    for one in resources.values():
        if one["Type"] == ALARM:
            one["Properties"]["ActionsEnabled"] = False


def _no_topic(resources: dict[str, Resource]) -> None:
    for one in resources.values():
        if one["Type"] == "AWS::SNS::Topic":
            one["Type"] = "AWS::SQS::Queue"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_denial_alone, "the topic's policy refuses"),
        (_denial_of_all, "the topic's policy refuses"),
        (_other_account, "the topic's policy refuses"),
        (_key_without_grant, "the key's policy refuses CloudWatch kms:Decrypt"),
        (_key_that_only_decrypts, "the key's policy refuses CloudWatch kms:GenerateDataKey"),
        (_key_of_aws, "no key of ours"),
        (_no_action, "OKActions: none"),
        (_actions_off, "its actions are off"),
        (_no_topic, "no topic of ours"),
    ],
)
def test_a_missing_link_is_found(
    spoil: Callable[[dict[str, Resource]], None], why: str, prod: Synthesis
) -> None:
    resources = _service(prod)
    spoil(resources)
    for alarm in prod.all_of(ALARM):
        assert why in "; ".join(broken_links(resources, alarm))


def test_no_service_but_cloudwatch_meets_a_key_of_ours(cloud: Synthesis) -> None:
    """Queues, buckets and log groups are under keys of AWS's that every service may use: SQS moves
    dead letters, S3 and VPC deliver logs. A key of ours there would keep them out.
    """
    for part in cloud.templates.values():
        for name, resource in part["Resources"].items():
            encrypted = {"KmsKeyId", "KmsMasterKeyId"} & set(resource.get("Properties", {}))
            assert not encrypted or resource["Type"] == "AWS::SNS::Topic", name
            assert "KMSMasterKeyID" not in str(resource), name
    for kind in ("AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy"):
        for policy in cloud.all_of(kind).values():
            for one in policy["Properties"]["PolicyDocument"]["Statement"]:
                assert one["Effect"] == "Allow" or one.get("Condition"), "denies everything"


def test_s3_may_deliver_the_access_log(cloud: Synthesis) -> None:
    ((assets, to),) = [
        (name, one["Properties"]["LoggingConfiguration"]["DestinationBucketName"])
        for name, one in cloud.all_of("AWS::S3::Bucket").items()
        if "LoggingConfiguration" in one["Properties"]
    ]
    policy = cloud.one_of("AWS::S3::BucketPolicy", Bucket=to)["PolicyDocument"]
    (allowed,) = [one for one in policy["Statement"] if one["Effect"] == "Allow"]
    assert allowed["Principal"] == {"Service": "logging.s3.amazonaws.com"}
    assert allowed["Action"] == "s3:PutObject"
    assert allowed["Condition"]["ArnLike"] == {"aws:SourceArn": {"Fn::GetAtt": [assets, "Arn"]}}
