"""Ids without the shape of one: 404 or a plain complaint, and no store is asked for them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from cli.local import redis
from cli.main import app
from tests.contract.quarantining import ReplayFunction, asked_of, reached
from tests.contract.virtual import queue
from tests.event_source import record
from tests.fakes import LambdaContext
from tests.pipeline import REGION, Pipeline
from tidegate.clock import SystemIds
from tidegate.doors.queue import NotOurs, body_of, job_id_in, message_of
from tidegate.rules.ids import is_job_id
from worker.handler import handle

MODEL = "chat-mini"
GOOD = "job_01m8n5x2f3xsz3asvftx15jg04"
CONTEXT: Any = LambdaContext()


def shapeless() -> list[str]:
    """Return texts of every kind that are no job's id."""
    chance = random.Random(11)  # noqa: S311
    odd = [chr(code) for code in range(128) if not chr(code).isalnum()]
    odd += [
        "%2F",
        "%00",
        "%",
        "é",
        "\uff11",
        "\uff41",
        "\u0660",
        "\u202e",
        "\ud800",
        "😀",
        "\u2028",
    ]
    return [
        "x", "job", "job_", "JOB_1", "job-1", "jobs_1", f" {GOOD}", f"{GOOD} ", f"{GOOD}\n",
        "../status", "..%2f..%2fetc", "job_" + "a" * 61,
        *(f"job_a{each}b" for each in odd),
        *(f"job_{each}" for each in odd),
        *("a" * length for length in (2, 63, 64, 255, 1024, 2044, 2045, 2048, 4096, 5000)),
        *("job_" + "a" * length for length in (2041, 2044, 5000)),
        *("".join(chance.choices(odd, k=chance.randrange(1, 60))) for _ in range(60)),
    ]  # fmt: skip


SHAPELESS = shapeless()


class Asked:
    """Every request to AWS, by operation."""

    def __init__(self) -> None:
        self.operations: list[str] = []

    def __call__(self, event_name: str, **_: Any) -> None:
        self.operations.append(event_name.rpartition(".")[2])


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: it has no part in this."""
    redis.flush(redis_single)
    return redis_single


@pytest.fixture
def asked(pipeline: Pipeline) -> Iterator[Asked]:
    """What clients made from here on ask of AWS."""
    seen, session = Asked(), boto3.DEFAULT_SESSION
    assert session is not None
    session.events.register_first("before-send", seen)
    pipeline._thread.__dict__.clear()
    yield seen
    session.events.unregister("before-send", seen)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/jobs/{}"), ("GET", "/v1/jobs/{}/result"), ("POST", "/v1/jobs/{}/cancel")],
)
def test_over_http_it_is_404(pipeline: Pipeline, asked: Asked, method: str, path: str) -> None:
    for text in SHAPELESS:
        if text == f"{GOOD}\n":  # the router takes the line's end off
            continue
        answer = pipeline.send(method, path.format(text))
        assert (answer.status, answer.json["code"]) == (404, "not_found"), text
        assert answer.headers["x-should-retry"] == "false"
    assert asked.operations == []

    assert pipeline.send(method, path.format(GOOD)).status == 404
    assert asked.operations == ["GetItem"]  # what has the shape of one is looked for


def test_a_message_of_such_a_job_is_not_ours(pipeline: Pipeline, asked: Asked) -> None:
    url, entry = pipeline.queue_url(MODEL), pipeline.models.models[MODEL]
    doors = pipeline.worker(MODEL)
    bodies = [json.dumps({"v": 1, "job_id": text}) for text in SHAPELESS]
    others: tuple[Any, ...] = (None, 1, [], {}, [GOOD])
    bodies += [json.dumps({"v": 1, "job_id": other}) for other in others]
    for body in bodies:
        with pytest.raises(NotOurs):
            job_id_in(body)
    for body in bodies[::20]:
        pipeline.sqs.send_message(QueueUrl=url, MessageBody=body)
        (message,) = pipeline.sqs.receive_message(QueueUrl=url, AttributeNames=["All"])["Messages"]
        event = {"Records": [record(message, f"arn:aws:sqs:{REGION}:123456789012:tg-{MODEL}")]}
        told = handle(event, CONTEXT, doors, entry)
        assert told == {"batchItemFailures": [{"itemIdentifier": message["MessageId"]}]}
        queue(MODEL)._messages.clear()
    assert set(asked.operations) == {"ChangeMessageVisibility"}  # handed back, nothing else


@pytest.mark.parametrize("stamp", ["9" * 5000, "٣", "-1", "1e9", "", "x", "9" * 400])
def test_a_stamp_that_is_no_time_is_none(stamp: str) -> None:
    attributes = {"sent_at": {"stringValue": stamp, "dataType": "String"}}
    raw = {"messageId": "m", "receiptHandle": "r", "body": "", "messageAttributes": attributes}
    assert message_of(raw).stamped_at is None


def test_to_operators_events_it_is_a_complaint(pipeline: Pipeline, asked: Asked) -> None:
    doors, entry = pipeline.worker(MODEL), pipeline.models.models[MODEL]
    for text in SHAPELESS:
        replays: list[Any] = [
            {"action": action, "model": MODEL, "job_ids": [GOOD, text]}
            for action in ("list", "replay", "discard")
        ]
        replays += [
            {"action": "list", "model": text},
            {"quarantine": "release", "job_ids": [text], "by": "me", "why": "so"},
            {"quarantine": "discard", "job_ids": [text], "by": "me", "why": "so"},
        ]
        for event in replays:
            assert asked_of(pipeline, event)["error"]["code"] in {
                "validation_failed", "unknown_model",
            }, event  # fmt: skip
        event = {"invalidate": {"partner": f"{text}!"}}
        assert handle(event, CONTEXT, doors, entry)["error"]["code"] == "validation_failed"
    assert asked.operations == []


@pytest.mark.parametrize("event", [None, [], "x", 5, {}, {"invalidate": None}, {"switch": GOOD}])
def test_what_is_no_event_of_a_worker_is_a_complaint(pipeline: Pipeline, event: Any) -> None:
    entry = pipeline.models.models[MODEL]
    told = handle(event, CONTEXT, pipeline.worker(MODEL), entry)
    assert told["error"]["code"] == "validation_failed"


COMMANDS = [
    ("quarantine", "show"), ("quarantine", "release", "--why", "so"),
    ("quarantine", "list", "--model"), ("quarantine", "export", "-", "--model"),
    ("dlq", "list", "--model", MODEL, "--id"), ("dlq", "replay", "--model", MODEL, "--id"),
    ("dlq", "list", "--model"), ("models", "show"),
    ("partners", "balance"), ("partners", "limit"), ("partners", "create"),
    ("ledger", "verify", "--partner"), ("cache", "invalidate", "--why", "so", "--partner"),
    ("cache", "invalidate", "--why", "so", "--model"), ("references", "show"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_complains_plainly(
    pipeline: Pipeline, asked: Asked, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    reached(pipeline, ReplayFunction(), monkeypatch)
    for text in (SHAPELESS[0] + "!", *SHAPELESS[8::9], "a" * 2045 + "!", "a" * 5000):
        result = CliRunner().invoke(app, [*words, text, "--env", "dev"])
        assert isinstance(result.exception, SystemExit), (text, result.exception)
        assert result.exit_code in {1, 2}, (text, result.output)
    assert set(asked.operations) <= {"GetCallerIdentity"}


def test_credit_ids_and_partners_are_looked_at_before_anything_is_given(
    pipeline: Pipeline, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached(pipeline, ReplayFunction(), monkeypatch)
    for text in ("a" * 2045, "a b", "é"):
        given = CliRunner().invoke(app, ["partners", "credit", text, "1", "--env", "dev"])
        assert (given.exit_code, asked.operations) == (2, []), given.output


def test_what_is_minted_has_the_shape() -> None:
    assert all(is_job_id(SystemIds().job_id(now)) for now in (0.0, 1.9e9, 4e9))
    assert job_id_in(body_of(GOOD)) == GOOD
