"""What AWS refuses as wrong in itself is a mistake of ours: 500, logged and counted; not 503."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from cli.local import redis
from tests.contract.faults import _response
from tests.contract.test_accept import BODY
from tests.fakes import LambdaContext
from tests.pipeline import Pipeline
from tidegate.doors import clients
from tidegate.errors import Defect
from tidegate.settings import RepairSettings

MODEL = "chat-mini"


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: it has no part in this."""
    redis.flush(redis_single)
    return redis_single


def refused(client: Any, operation: str, code: str, reasons: Any = None) -> None:
    """Let AWS answer a client's every call of an operation with an error."""
    xml = f"<Error><Code>{code}</Code><Message>what was asked</Message></Error>"
    body: dict[str, Any] = {"__type": f"com.amazonaws#{code}", "message": "what was asked"}
    if reasons is not None:
        body["CancellationReasons"] = [{"Code": reason, "Message": "x"} for reason in reasons]
    text = xml if client.meta.service_model.service_name == "s3" else json.dumps(body)

    def answer(request: Any, **_: Any) -> Any:
        return _response(request, 400, text)

    client.meta.events.register_first(f"before-send.*.{operation}", answer)


class Told:
    """What operators are told: the log's errors, and how many defects were counted."""

    def __init__(self, log: pytest.LogCaptureFixture, out: pytest.CaptureFixture[str]) -> None:
        self._log, self._out = log, out

    def errors(self) -> list[tuple[str, Any, Any]]:
        found = [each for each in self._log.records if each.levelname == "ERROR"]
        return [(e.message, getattr(e, "of", None), getattr(e, "refused", None)) for e in found]

    def counted(self) -> float:
        lines = [json.loads(x) for x in self._out.readouterr().out.splitlines() if '"_aws"' in x]
        return sum(sum(line.get("Defects", [])) for line in lines)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> Told:
    return Told(caplog, capsys)


@pytest.mark.parametrize(
    ("service", "operation", "code", "arguments"),
    [
        ("dynamodb", "GetItem", "ValidationException", {"TableName": "t", "Key": {}}),
        ("dynamodb", "UpdateItem", "SerializationException", {"TableName": "t", "Key": {}}),
        ("s3", "PutObject", "KeyTooLongError", {"Bucket": "b", "Key": "k"}),
        ("s3", "GetObject", "InvalidRequest", {"Bucket": "b", "Key": "k"}),
        ("sqs", "SendMessage", "InvalidMessageContents", {"QueueUrl": "q", "MessageBody": "m"}),
        ("sqs", "SendMessage", "InvalidParameterValue", {"QueueUrl": "q", "MessageBody": "m"}),
    ],
)
def test_refusals_are_defects(
    aws: None, service: str, operation: str, code: str, arguments: dict[str, Any]
) -> None:
    client = getattr(clients, service)()
    refused(client, operation, code)
    with pytest.raises(Defect, match=rf"^{service}\.{operation}: {code}$"):
        client._make_api_call(operation, arguments)


@pytest.mark.parametrize(
    ("service", "operation", "code", "arguments"),
    [
        ("dynamodb", "GetItem", "ThrottlingException", {"TableName": "t", "Key": {}}),
        ("dynamodb", "GetItem", "ResourceNotFoundException", {"TableName": "t", "Key": {}}),
        ("dynamodb", "GetItem", "AccessDeniedException", {"TableName": "t", "Key": {}}),
        ("s3", "GetObject", "SlowDown", {"Bucket": "b", "Key": "k"}),
        ("s3", "GetObject", "NoSuchKey", {"Bucket": "b", "Key": "k"}),
        ("sqs", "SendMessage", "RequestThrottled", {"QueueUrl": "q", "MessageBody": "m"}),
        (
            "sqs", "ChangeMessageVisibility", "InvalidParameterValue",
            {"QueueUrl": "q", "ReceiptHandle": "too old", "VisibilityTimeout": 0},
        ),
    ],
)  # fmt: skip
def test_trouble_that_passes_is_none(
    aws: None,
    service: str,
    operation: str,
    code: str,
    arguments: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _seconds: None)
    client = getattr(clients, service)()
    refused(client, operation, code)
    with pytest.raises(ClientError, match=code):
        client._make_api_call(operation, arguments)


@pytest.mark.parametrize(
    ("reasons", "defect"),
    [
        (["None", "ValidationError"], True),
        (["TransactionConflict", "ItemCollectionSizeLimitExceeded"], True),
        (["None", "TransactionConflict"], False),
        (["ConditionalCheckFailed", "ValidationError"], False),
    ],
)
def test_a_transaction_is_a_defect_by_its_reasons(
    aws: None, reasons: list[str], defect: bool
) -> None:
    client = clients.dynamodb()
    refused(client, "TransactWriteItems", "TransactionCanceledException", reasons)
    with pytest.raises(Defect if defect else ClientError):
        client.transact_write_items(
            TransactItems=[{"Delete": {"TableName": "jobs", "Key": {"pk": {"S": "x"}}}}]
        )


def test_a_post_that_cannot_be_stored_as_it_is_is_500(pipeline: Pipeline) -> None:
    client, reasons = pipeline.api.doors.jobs._table._client, ["None", "ValidationError"]
    refused(client, "TransactWriteItems", "TransactionCanceledException", reasons)
    answer = pipeline.post(BODY)
    assert (answer.status, answer.json["code"]) == (500, "internal")


def test_over_http_it_is_500_and_said_to_operators(pipeline: Pipeline, told: Told) -> None:
    refused(pipeline.api.doors.jobs._table._client, "GetItem", "ValidationException")
    answer = pipeline.get("/v1/jobs/job_1")

    assert (answer.status, answer.json["code"], answer.json["retryable"]) == (
        500,
        "internal",
        False,
    )
    assert answer.headers["x-should-retry"] == "false"
    assert "Retry-After" not in answer.headers
    assert told.errors() == [("defect", "door_failed", "dynamodb.GetItem: ValidationException")]
    assert told.counted() == 1


def test_what_passes_is_503_and_no_defect(
    pipeline: Pipeline, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _seconds: None)
    refused(pipeline.api.doors.jobs._table._client, "GetItem", "ThrottlingException")
    answer = pipeline.get("/v1/jobs/job_1")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert (told.errors(), told.counted()) == ([], 0)


def test_what_botocore_itself_refuses_is_a_defect(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: object) -> None:
        raise ParamValidationError(report="what was asked")

    monkeypatch.setattr(type(pipeline.api.doors.jobs), "load", wrong)
    assert pipeline.get("/v1/jobs/job_1").status == 500


def test_a_workers_message_comes_again(
    pipeline: Pipeline, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.post(BODY)
    worker = pipeline.worker(MODEL)
    refused(worker.jobs._table._client, "GetItem", "ValidationException")
    monkeypatch.setattr(pipeline, "worker", lambda _model: worker)
    assert pipeline.deliver(MODEL) == 1
    assert told.errors() == [("defect", "message_failed", "dynamodb.GetItem: ValidationException")]
    assert told.counted() == 1
    attributes = pipeline.sqs.get_queue_attributes(
        QueueUrl=pipeline.queue_url(MODEL), AttributeNames=["All"]
    )["Attributes"]
    assert attributes["ApproximateNumberOfMessagesNotVisible"] == "1"


def test_the_sweeper_goes_on_with_the_others(
    pipeline: Pipeline, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sweeper.build import build
    from sweeper.handler import handle

    pipeline.post(BODY)
    pipeline.clock.time += 60
    settings = RepairSettings("local", "jobs", "ledger", "assets", pipeline.prefix)
    doors = build(settings, pipeline.models, pipeline.clock, pipeline.ids)
    refused(doors.jobs._table._client, "UpdateItem", "ValidationException")
    context: Any = LambdaContext()
    assert handle(context, doors, pipeline.models) == {"failed": 1}
    assert told.errors() == [("defect", "sweep_failed", "dynamodb.UpdateItem: ValidationException")]
    assert told.counted() == 1
