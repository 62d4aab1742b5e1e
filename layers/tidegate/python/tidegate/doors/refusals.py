"""What AWS refuses as wrong in itself: a mistake of ours (`Defect`), not trouble that passes.

Throttling, outages, conflicts, failed conditions and missing rights have other codes, and stay
what they are. So does a receipt that is too old, which SQS calls an invalid parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.client import BaseClient
from botocore.model import OperationModel

from tidegate.errors import Defect

_CONDITION = "ConditionalCheckFailed"
"""Of an action of a transaction whose condition did not hold."""

_ANY = ""
"""Stands for every operation of a service."""

_REFUSALS: Mapping[tuple[str, str], frozenset[str]] = {
    # API_GetItem.html#API_GetItem_Errors, CommonErrors.html; also a reason of a transaction
    ("dynamodb", _ANY): frozenset(
        {
            "ValidationException",
            "ValidationError",
            "SerializationException",
            "ItemCollectionSizeLimitExceeded",
            "ItemCollectionSizeLimitExceededException",
            "IdempotentParameterMismatchException",
        }
    ),
    # docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
    ("s3", _ANY): frozenset(
        {
            "EntityTooLarge",
            "InvalidArgument",
            "InvalidRequest",
            "InvalidURI",
            "KeyTooLongError",
            "MetadataTooLarge",
        }
    ),
    # docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
    ("sqs", _ANY): frozenset({"InvalidMessageContents", "InvalidAttributeValue"}),
    ("sqs", "SendMessage"): frozenset(
        {"InvalidParameterValue", "MissingParameter", "UnsupportedOperation"}
    ),
}
"""Codes, by service and operation."""


def watched(client: BaseClient) -> None:
    """Let a client's calls raise `Defect` where AWS refuses the request as wrong."""
    client.meta.events.register("after-call", _look, unique_id="refusals")


def _look(parsed: Mapping[str, Any], model: OperationModel, **_: Any) -> None:
    service, operation = model.service_model.service_name, model.name
    wrong = _REFUSALS.get((service, _ANY), frozenset())
    wrong |= _REFUSALS.get((service, operation), frozenset())
    codes = list(_codes(parsed))
    if _CONDITION in codes:  # an answer, whatever else was wrong with the transaction
        return
    for code in codes:
        if code in wrong:
            # What AWS says besides may quote the request.
            raise Defect(f"{service}.{operation}: {code}")


def _codes(parsed: Mapping[str, Any]) -> Iterator[str]:
    """Yield an error's code, and those of each action of a transaction."""
    code = parsed.get("Error", {}).get("Code")
    if code is not None:
        yield code.rpartition(".")[2]
        for reason in parsed.get("CancellationReasons", ()):
            yield reason.get("Code", "")
