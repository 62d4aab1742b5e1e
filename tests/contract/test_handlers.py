"""The handlers as Lambda calls them: environment, a real event, twice in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

import api.handler
import sweeper.handler
import worker.handler
from tests.contract.test_accept import BODY
from tests.fakes import LambdaContext
from tests.pipeline import PUBLIC_URL, ROOT, Pipeline
from tidegate.settings import ApiSettings, SettingMissing

CONTEXT: Any = LambdaContext(9.0)


def event(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "events" / f"{name}.json").read_text())
    return loaded


@pytest.fixture
def deployed(
    pipeline: Pipeline, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pipeline]:
    """A pipeline whose settings are in the environment, as a deployment puts them there."""
    settings = {
        "TIDEGATE_ENV": "local",
        "JOBS_TABLE": "jobs",
        "LEDGER_TABLE": "ledger",
        "ASSETS_BUCKET": "assets",
        "QUEUE_URL_PREFIX": pipeline.prefix,
        "PUBLIC_URL": PUBLIC_URL + "/",
        "REDIS_URL": redis_url,
        "MODEL": "chat-mini",
        "QUEUE_URL": pipeline.queue_url("chat-mini"),
        "LOW_QUEUE_URL": pipeline.queue_url("chat-mini-low"),
        "DLQ_URL": pipeline.dlq_url("chat-mini"),
        "QUARANTINE_URL": pipeline.quarantine_url,
        "VENDOR_BASE_URL": "http://127.0.0.1:1",
        "VENDOR_SECRET": "none",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    yield pipeline
    for cached in (api.handler._api, worker.handler._worker):
        if cached.cache_info().currsize:
            built: Any = cached()[0]
            doors = getattr(built, "doors", built)
            doors.cache._valkey.close()
        cached.cache_clear()
    sweeper.handler._sweeper.cache_clear()


def test_an_api_gateway_event_becomes_a_job_cold_and_warm(deployed: Pipeline) -> None:
    for _ in range(2):
        answer = api.handler.handler(event("api"), CONTEXT)
        assert answer["statusCode"] == 202
        job = json.loads(answer["body"])
        location = f"{PUBLIC_URL}/v1/jobs/{job['id']}"
        assert answer["multiValueHeaders"]["Location"] == [location]
        assert answer["isBase64Encoded"] is False
    assert len([item for item in deployed.items() if item["sk"]["S"] == "status"]) == 1


def test_a_message_without_a_job_is_acknowledged_cold_and_warm(deployed: Pipeline) -> None:
    for _ in range(2):
        assert worker.handler.handler(event("worker"), CONTEXT) == {"batchItemFailures": []}


def test_the_schedules_event_sweeps_cold_and_warm(deployed: Pipeline) -> None:
    deployed.post(BODY)
    for _ in range(2):
        assert sweeper.handler.handler(event("sweeper"), CONTEXT) == {}  # nothing is due yet


def sent(pipeline: Pipeline, *bodies: str) -> dict[str, Any]:
    """Return an event of messages that are really in flight."""
    url = pipeline.queue_url("chat-mini")
    for body in bodies:
        pipeline.sqs.send_message(QueueUrl=url, MessageBody=body)
    received = pipeline.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    (record,) = event("worker")["Records"]
    return {
        "Records": [
            {
                **record,
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
            }
            for message in received
        ]
    }


def test_one_bad_message_is_named_and_the_others_are_done(deployed: Pipeline) -> None:
    good = '{"v": 1, "job_id": "job_gone"}'
    batch = sent(deployed, good, "not json", good)
    (bad,) = [r["messageId"] for r in batch["Records"] if r["body"] == "not json"]
    for _ in range(2):
        answer = worker.handler.handler(batch, CONTEXT)
        assert answer == {"batchItemFailures": [{"itemIdentifier": bad}]}


def test_a_door_that_fails_fails_its_message_and_not_the_function(
    deployed: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    doors, _entry = worker.handler._worker()

    def throttled(_job_id: str) -> None:
        raise ClientError({"Error": {"Code": "InternalServerError"}}, "GetItem")

    monkeypatch.setattr(type(doors.jobs), "load", lambda _self, job_id: throttled(job_id))
    record = event("worker")["Records"][0]
    answer = worker.handler.handler(event("worker"), CONTEXT)
    assert answer == {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}


def test_a_door_that_fails_is_a_503_to_try_again(
    deployed: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, _app = api.handler._api()

    def unavailable(*_args: object, **_kwargs: object) -> None:
        raise ClientError({"Error": {"Code": "ServiceUnavailable"}}, "SendMessage")

    monkeypatch.setattr(type(built.doors.waiting_room.queue), "send", unavailable)
    answer = api.handler.handler(event("api"), CONTEXT)
    assert answer["statusCode"] == 503
    assert json.loads(answer["body"])["code"] == "temporarily_unavailable"
    assert answer["multiValueHeaders"]["Retry-After"] == ["1"]


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(SettingMissing, match="JOBS_TABLE"):
        ApiSettings.of({"TIDEGATE_ENV": "local"})
