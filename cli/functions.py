"""A deployed function that does an operator's work, and its answer or why there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


ONCE_MORE = Config(connect_timeout=5, read_timeout=60, retries={"total_max_attempts": 2})
"""For what may be asked twice: twice is once."""


class Refused(Exception):
    """The function did not do what it was asked; `str()` says why."""


def client(region: str | None, endpoint_url: str | None, config: Config) -> LambdaClient:
    """Return what functions are invoked by, where the command's options say."""
    return boto3.client("lambda", region_name=region, endpoint_url=endpoint_url, config=config)


def invoke(
    client: LambdaClient, function: str, request: dict[str, Any], *, busy: str
) -> dict[str, Any]:
    """Return a function's answer to one request.

    `busy` is what a person is told where all its executions are in use.

    Raises:
        Refused: it could not be reached, failed, or says that the request is wrong.
    """
    try:
        reply = client.invoke(FunctionName=function, Payload=json.dumps(request))
        answer: dict[str, Any] = json.loads(reply["Payload"].read())
    except (ClientError, BotoCoreError) as error:
        code = getattr(error, "response", {}).get("Error", {}).get("Code")
        if code == "TooManyRequestsException":
            raise Refused(busy) from None
        if code == "ResourceNotFoundException":
            raise Refused(f"there is no function {function}") from None
        raise Refused(str(error)) from error
    if "FunctionError" in reply:
        raise Refused(f"the function failed: {answer.get('errorMessage', 'it does not say why')}")
    if "error" in answer:
        raise Refused(f"{answer['error']['code']}: {answer['error']['message']}")
    return answer
