"""What a function's role lets it do: all that its work takes (every other test), and no more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from cli.local.stack import StackInfo, client

pytestmark = pytest.mark.system

KEY = {"pk": {"S": "nothing"}, "sk": {"S": "nothing"}}


@pytest.fixture(params=["api", "worker-chat-mini", "sweeper", "replay"])
def as_function(stack: StackInfo, request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """Return clients of AWS services with the rights of one function's role."""
    name = stack.functions[request.param]
    with (
        closing(client(stack.aws_endpoint, "lambda")) as functions,
        closing(client(stack.aws_endpoint, "sts")) as sts,
    ):
        role = functions.get_function_configuration(FunctionName=name)["Role"]
        lent = sts.assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    session = boto3.Session(
        lent["AccessKeyId"], lent["SecretAccessKey"], lent["SessionToken"], stack.region
    )
    return lambda service: session.client(service, endpoint_url=stack.aws_endpoint)  # type: ignore[call-overload]


def refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"] in {"AccessDeniedException", "AccessDenied"}
    return False


def test_it_reads_jobs_by_key_and_scans_nothing(
    stack: StackInfo, as_function: Callable[[str], Any]
) -> None:
    with closing(as_function("dynamodb")) as dynamodb:
        dynamodb.get_item(TableName=stack.tables["jobs"], Key=KEY)
        for table in stack.tables.values():
            assert refused(lambda: dynamodb.scan(TableName=table))  # noqa: B023


def test_it_deletes_nothing_of_the_ledger(
    stack: StackInfo, as_function: Callable[[str], Any]
) -> None:
    with closing(as_function("dynamodb")) as dynamodb:
        assert refused(lambda: dynamodb.delete_item(TableName=stack.tables["ledger"], Key=KEY))


def test_it_sees_no_partner(stack: StackInfo, as_function: Callable[[str], Any]) -> None:
    with closing(as_function("dynamodb")) as dynamodb:
        assert refused(lambda: dynamodb.get_item(TableName=stack.tables["partners"], Key=KEY))
