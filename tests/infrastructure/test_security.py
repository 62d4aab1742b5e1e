"""Least privilege, and encryption at rest and in flight."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.infrastructure.grants import (
    actions,
    actions_on,
    functions,
    listed,
    queue_names,
    resources_of,
    statements,
)
from tests.infrastructure.synthesis import Synthesis

JOBS_ACTIONS = {
    "dynamodb:GetItem",
    "dynamodb:Query",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:ConditionCheckItem",
}
LEDGER_ACTIONS = {"dynamodb:PutItem", "dynamodb:UpdateItem"}
LOG_ACTIONS = {"logs:CreateLogStream", "logs:PutLogEvents"}
INTERFACE_ACTIONS = {
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
}
CONSUME_ACTIONS = {
    "sqs:ReceiveMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
}


def _in_vpc(every: Synthesis) -> set[str]:
    return set() if every.config.is_local else INTERFACE_ACTIONS | {"elasticache:Connect"}


def _queues(every: Synthesis, function: str, action: str) -> set[str]:
    """Return the names of the queues that a function's role allows an action on."""
    names, found = queue_names(every), list(resources_of(every, function, action))
    # What other stacks have comes by its export, which has the logical id in its name.
    return {queue for logical, queue in names.items() if any(logical in str(arn) for arn in found)}


def test_the_api_moves_jobs_and_sends_them(every: Synthesis) -> None:
    sends = {"s3:GetObject", "s3:PutObject", "sqs:SendMessage"}
    assert actions(every, "api") == JOBS_ACTIONS | LOG_ACTIONS | sends | _in_vpc(every)


def test_the_authorizer_reads_one_partner_and_nothing_else(every: Synthesis) -> None:
    assert actions(every, "authorizer") == {"dynamodb:GetItem"} | LOG_ACTIONS


def test_a_worker_reads_its_own_queue_and_its_own_vendors_secret(every: Synthesis) -> None:
    for name, entry in every.catalogue.models.items():
        function = f"worker-{name}"
        assert actions(every, function) == (
            JOBS_ACTIONS
            | LOG_ACTIONS
            | CONSUME_ACTIONS
            | {"sqs:SendMessage", "s3:GetObject", "s3:PutObject"}
            | {"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"}
            | ({"dynamodb:BatchGetItem"} if every.catalogue.sources(name) else set())
            | _in_vpc(every)
        )
        text = json.dumps(statements(every, function))
        for vendor in every.config.vendors:
            assert (f"Secret{vendor}" in text) == (vendor == entry.vendor)
        mine = {name, f"{name}-low", f"{name}-dlq", "quarantine"}
        for logical, queue in queue_names(every).items():
            assert (logical in text) == (queue in mine), queue


def test_a_worker_receives_from_both_its_queues_and_sends_to_all_it_has(every: Synthesis) -> None:
    for name in every.catalogue.models:
        working = {name, f"{name}-low"}
        function = f"worker-{name}"
        assert _queues(every, function, "sqs:ReceiveMessage") == working
        assert _queues(every, function, "sqs:ChangeMessageVisibility") == working
        sends = _queues(every, function, "sqs:SendMessage")
        assert sends == working | {f"{name}-dlq", "quarantine"}


@pytest.mark.parametrize("function", ["api", "replay"])
def test_jobs_of_either_priority_are_sent_but_none_to_a_dlq(
    every: Synthesis, function: str
) -> None:
    working = {name + lane for name in every.catalogue.models for lane in ("", "-low")}
    assert _queues(every, function, "sqs:SendMessage") == working


def test_repair_moves_jobs_and_sends_and_needs_no_network(every: Synthesis) -> None:
    both = JOBS_ACTIONS | LOG_ACTIONS | {"sqs:SendMessage"}
    assert actions(every, "sweeper") == both
    decisions = {"s3:GetObject", "s3:DeleteObject"}
    assert actions(every, "replay") == both | decisions | CONSUME_ACTIONS - {"sqs:GetQueueUrl"}


def test_the_sweeper_sends_to_every_queue_and_receives_from_none(every: Synthesis) -> None:
    queues = set(queue_names(every).values())
    assert len(queues) == 3 * len(every.catalogue.models) + 1
    assert _queues(every, "sweeper", "sqs:SendMessage") == queues
    assert not _queues(every, "sweeper", "sqs:ReceiveMessage")


def test_replay_takes_messages_out_of_dlqs_and_quarantine_alone(every: Synthesis) -> None:
    ends = {f"{name}-dlq" for name in every.catalogue.models} | {"quarantine"}
    for action in CONSUME_ACTIONS - {"sqs:GetQueueUrl"}:
        assert _queues(every, "replay", action) == ends


def test_nobody_but_the_sweeper_asks_what_is_due(every: Synthesis) -> None:
    for function in functions(every):
        index = actions_on(every, function, "/index/")
        assert index == ({"dynamodb:Query"} if function == "sweeper" else set()), function
    assert "/index/due" in str(list(resources_of(every, "sweeper", "dynamodb:Query")))


def test_the_ledger_is_added_to_and_nothing_leaves_it(every: Synthesis) -> None:
    for function in functions(every):
        reads = {"dynamodb:GetItem"} if function == "api" else set()
        found = actions_on(every, function, "DataLedger")
        assert found == (set() if function == "authorizer" else LEDGER_ACTIONS | reads), function


def test_a_role_stays_far_below_what_iam_takes(every: Synthesis) -> None:
    """10 240 characters for all of a role's own policies, white space apart; an ARN is not long."""
    for function in functions(every):
        text = json.dumps(statements(every, function), separators=(",", ":"))
        references = text.count("Fn::")
        assert len(text) + 60 * references < 10_240, function


def test_no_role_of_ours_may_do_everything_or_reach_everything(every: Synthesis) -> None:
    for policy in every.all_of("AWS::IAM::Policy").values():
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            allowed = set(listed(statement["Action"]))
            assert not [action for action in allowed if "*" in action]
            if "*" in listed(statement["Resource"]):
                assert allowed == INTERFACE_ACTIONS
    managed = [
        r["Properties"].get("ManagedPolicyArns") for r in every.all_of("AWS::IAM::Role").values()
    ]
    attached = [arn for arns in managed if arns for arn in arns]
    assert len(attached) == (0 if every.config.is_local else 1), "API Gateway's log role alone"


def _refuses_plain_http(policies: dict[str, Any], key: str) -> set[str]:
    return {
        policy["Properties"][key][0]["Ref"]
        if isinstance(policy["Properties"][key], list)
        else policy["Properties"][key]["Ref"]
        for policy in policies.values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }


def test_queues_and_buckets_refuse_plain_http(every: Synthesis) -> None:
    queues = _refuses_plain_http(every.all_of("AWS::SQS::QueuePolicy"), "Queues")
    assert queues == set(every.all_of("AWS::SQS::Queue"))
    buckets = _refuses_plain_http(every.all_of("AWS::S3::BucketPolicy"), "Bucket")
    assert buckets == set(every.all_of("AWS::S3::Bucket"))


def test_everything_at_rest_is_encrypted(every: Synthesis) -> None:
    for queue in every.all_of("AWS::SQS::Queue").values():
        assert queue["Properties"]["SqsManagedSseEnabled"] is True
    for table in every.all_of("AWS::DynamoDB::Table").values():
        assert table["Properties"]["SSESpecification"] == {"SSEEnabled": True}
    for bucket in every.all_of("AWS::S3::Bucket").values():
        assert bucket["Properties"]["BucketEncryption"]
    for topic in every.all_of("AWS::SNS::Topic").values():
        assert topic["Properties"]["KmsMasterKeyId"]


def test_no_bucket_can_become_public(every: Synthesis) -> None:
    for bucket in every.all_of("AWS::S3::Bucket").values():
        assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
        ownership = bucket["Properties"]["OwnershipControls"]["Rules"]
        assert ownership == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_the_cache_is_reached_by_functions_alone_over_tls_with_iam(cloud: Synthesis) -> None:
    cache = cloud.one_of("AWS::ElastiCache::ServerlessCache", Engine="valkey")
    assert cache["MajorEngineVersion"] == "8"
    assert cache["CacheUsageLimits"]["DataStorage"]["Maximum"] >= 1
    assert cache["CacheUsageLimits"]["ECPUPerSecond"]["Maximum"] >= 1000
    user = cloud.one_of("AWS::ElastiCache::User", UserName=cloud.config.named("functions"))
    assert user["UserId"] == user["UserName"]
    assert user["AuthenticationMode"] == {"Type": "iam"}
    assert "-@dangerous" in user["AccessString"]
    (ingress,) = cloud.all_of("AWS::EC2::SecurityGroupIngress").values()
    assert ingress["Properties"]["SourceSecurityGroupId"]["Fn::GetAtt"][0].startswith("Network")
    for function in cloud.all_of("AWS::Lambda::Function").values():
        told = function["Properties"]["Environment"]["Variables"]
        if "REDIS_URL" in told:
            assert "rediss+cluster://" in json.dumps(told["REDIS_URL"])
            assert told["REDIS_IAM_USER"] == user["UserId"]
            assert told["REDIS_IAM_CACHE"] == cache["ServerlessCacheName"]
            assert function["Properties"]["VpcConfig"]


def test_only_who_reads_the_cache_is_in_the_network(cloud: Synthesis) -> None:
    for name in ("authorizer", "sweeper", "replay"):
        function = cloud.one_of("AWS::Lambda::Function", FunctionName=cloud.config.named(name))
        assert "VpcConfig" not in function
        assert "REDIS_URL" not in function["Environment"]["Variables"]


def test_no_account_and_no_key_is_written_down(every: Synthesis) -> None:
    for part, template in every.templates.items():
        text = json.dumps({"r": template["Resources"], "o": template.get("Outputs")})
        assert not re.search(r"(?<!\w)\d{12}(?!\w)", text), part
        assert not re.search(r"AKIA[0-9A-Z]{16}|sk-[A-Za-z0-9]{16}", text), part


def test_bodies_and_headers_are_never_logged(every: Synthesis) -> None:
    stage = every.one_of("AWS::ApiGateway::Stage", StageName=every.config.name)
    assert {setting["DataTraceEnabled"] for setting in stage["MethodSettings"]} == {False}
    logged = stage["AccessLogSetting"]["Format"]
    assert json.loads(logged)["partner"] == "$context.authorizer.partner"
    assert "header" not in logged
    assert "body" not in logged
