"""boto3 clients with timeouts a Lambda can afford (the defaults wait a minute).

What AWS refuses as wrong in itself they raise as `Defect`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from tidegate.doors.refusals import watched

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

CONFIG = Config(
    connect_timeout=1,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 3},
    tcp_keepalive=True,
    max_pool_connections=4,
)
"""Seconds; three tries in all. A retried write recognises itself by its own condition."""

S3_CONFIG = CONFIG.merge(Config(signature_version="s3v4", read_timeout=10))


def dynamodb() -> DynamoDBClient:
    """Return a DynamoDB client."""
    client = boto3.client("dynamodb", config=CONFIG)
    watched(client)
    return client


def sqs() -> SQSClient:
    """Return an SQS client."""
    client = boto3.client("sqs", config=CONFIG)
    watched(client)
    return client


def s3() -> S3Client:
    """Return an S3 client that signs URLs with Signature Version 4."""
    client = boto3.client("s3", config=S3_CONFIG)
    watched(client)
    return client


def secretsmanager() -> SecretsManagerClient:
    """Return a Secrets Manager client."""
    return boto3.client("secretsmanager", config=CONFIG)
