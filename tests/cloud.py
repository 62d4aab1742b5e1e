"""What the CDK app makes in the cloud, made in moto, as far as the handlers care."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import boto3

from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.reference_sets import ReferenceSets
from tidegate.rules.catalogue import Catalogue

REGION = "us-east-1"

ACCOUNTS = [str(number) for number in (1, 7, *range(1001, 1021), 4711)]
"""The members of the set `accounts`."""

JOBS_INDEX: dict[str, Any] = {
    "attributes": [
        {"AttributeName": "due_shard", "AttributeType": "S"},
        {"AttributeName": "due_at", "AttributeType": "N"},
    ],
    "indexes": {
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "due",
                "KeySchema": [
                    {"AttributeName": "due_shard", "KeyType": "HASH"},
                    {"AttributeName": "due_at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ]
    },
}


def create_tables_and_queues(models: Catalogue) -> None:
    """Make in moto what the CDK app makes in the cloud, as far as the handlers care."""
    dynamodb = boto3.client("dynamodb", region_name=REGION)
    for table in ("jobs", "partners", "ledger", "references"):
        create_table(dynamodb, table, JOBS_INDEX if table == "jobs" else {})
    load_accounts(dynamodb)
    boto3.client("s3", region_name=REGION).create_bucket(Bucket="assets")
    sqs = boto3.client("sqs", region_name=REGION)
    sqs.create_queue(QueueName="tg-quarantine")
    for model in models.models:
        dlq = sqs.create_queue(QueueName=f"tg-{model}-dlq")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dlq, AttributeNames=["QueueArn"])
        redrive = {"deadLetterTargetArn": arn["Attributes"]["QueueArn"], "maxReceiveCount": 10}
        for name in (f"tg-{model}", f"tg-{model}-low"):
            sqs.create_queue(
                QueueName=name,
                Attributes={"RedrivePolicy": json.dumps(redrive), "VisibilityTimeout": "60"},
            )


def create_table(dynamodb: Any, name: str, index: Mapping[str, Any]) -> None:
    """Make a table with the keys that all of ours have, and an index of it."""
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
            *index.get("attributes", []),
        ],
        **index.get("indexes", {}),
    )


def load_accounts(dynamodb: Any) -> None:
    """Load the set that the catalogue's contracts refer to."""
    clock, ids = SystemClock(), SystemIds()
    sets = ReferenceSets(Table(dynamodb, "references", clock, ids), clock, ids)
    sets.load("accounts", ACCOUNTS, by="tests", why="as locally")


def client_of_dev(*_: Any, **__: Any) -> Any:
    """Return DynamoDB as the commands make it for env dev, on the tables that are in moto."""
    made = boto3.session.Session().client("dynamodb", region_name=REGION)
    made.meta.events.register("provide-client-params.dynamodb", _renamed)
    return made


def _renamed(params: dict[str, Any], **_: Any) -> None:
    if "TableName" in params:
        params["TableName"] = params["TableName"].removeprefix("tidegate-dev-")
    for item in params.get("TransactItems", ()):
        for action in item.values():
            _renamed(action)
