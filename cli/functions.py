"""A deployed function that does an operator's work, and its answer or why there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


class Refused(Exception):
    """The function did not do what it was asked; `str()` says why."""


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
