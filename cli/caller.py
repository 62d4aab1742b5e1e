"""Who runs a command: for the record of what it does."""

from __future__ import annotations

import getpass

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

WHO_AM_I = Config(connect_timeout=2, read_timeout=2, retries={"total_max_attempts": 1})

LONGEST_NAME = 200
"""Characters of `by`, as the functions take them."""


def caller(region: str | None, endpoint_url: str | None) -> str:
    """Return who runs this: as AWS names the credentials, else as this machine does."""
    try:
        sts = boto3.client("sts", region_name=region, endpoint_url=endpoint_url, config=WHO_AM_I)
        name = sts.get_caller_identity()["Arn"].rpartition(":")[2]
    except (ClientError, BotoCoreError):
        try:
            name = getpass.getuser()
        except (OSError, KeyError, ImportError):  # a container without an entry for its user
            name = ""
    return name[-LONGEST_NAME:] or "-"
