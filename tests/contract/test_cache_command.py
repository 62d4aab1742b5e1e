"""`tidegate cache` on a terminal: what is asked of a worker, and what becomes of answers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner, Result

import cli.cache
from cli.local import redis
from cli.main import app
from cli.partners import add_partner, known
from tests.cloud import client_of_dev
from tests.contract.commands import raises
from tests.contract.test_accept import BODY
from tests.fakes import LambdaContext
from tests.pipeline import Pipeline
from tidegate.doors.valkey import Valkey
from tidegate.telemetry import Telemetry
from worker.handler import handle

MODEL, OTHER = "chat-mini", "chat-claude"
Command = Callable[..., Result]


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: epochs are the same over either kind."""
    redis.flush(redis_single)
    return redis_single


class Functions:
    """The deployed workers, as boto3's Lambda client calls them."""

    def __init__(self, answers: Callable[[str, dict[str, Any]], Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def invoke(self, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803
        before, _, model = FunctionName.partition("-worker-")
        assert before == "tidegate-dev"
        event = json.loads(Payload)
        self.asked.append((model, event))
        answer = self.answers(model, event)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


@pytest.fixture
def tidegate(aws: None, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command, in a deployment where acme and globex are partners."""
    Telemetry("worker", "local")  # a logger writes where its first maker did
    monkeypatch.setattr(cli.cache, "caller", lambda *_: "user/moto")
    monkeypatch.setattr(cli.cache, "known", lambda _, *whose: known(client_of_dev(), *whose))
    for partner in ("acme", "globex"):
        add_partner(client_of_dev(), "partners", partner)

    def command(functions: Functions, *words: str, why: str = "wrong answers") -> Result:
        monkeypatch.setattr(cli.cache, "client", lambda *_: functions)
        return CliRunner().invoke(
            app, ["cache", "invalidate", *words, "--env", "dev", "--why", why]
        )

    return command


@pytest.fixture
def deployed(pipeline: Pipeline) -> Functions:
    def worked(model: str, event: dict[str, Any]) -> Any:
        context: Any = LambdaContext()
        return handle(event, context, pipeline.worker(model), pipeline.models.models[model])

    return Functions(worked)


class Asker:
    """Asks the same over and over, each time under a new key."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._count = 0

    def hits(self, partner: str = "acme", model: str = MODEL) -> bool:
        """Return whether it was answered from the cache; a new job is worked off."""
        self._count += 1
        body = {**BODY, "model": model, "params": {"temperature": 0}}
        answer = self._pipeline.post(body, f"key-{self._count}", partner)
        assert answer.status in {200, 202}, answer.text
        if not answer.json["done"]:
            self._pipeline.deliver(model)
        self._pipeline.clock.sleep(1)
        return bool(answer.json["source"] == "cache")


@pytest.fixture
def asker(pipeline: Pipeline) -> Asker:
    """Return one to whom acme, globex and a second model have answers already."""
    made = Asker(pipeline)
    for partner, model in (("acme", MODEL), ("globex", MODEL), ("acme", OTHER)):
        assert not made.hits(partner, model)
        assert made.hits(partner, model)
    return made


@pytest.mark.parametrize(
    ("whose", "told", "void"),
    [
        (("--model", MODEL), "answers of model chat-mini made before", {"acme", "globex"}),
        (("--partner", "acme"), "answers of acme made before", {"acme", "second"}),
        (
            ("--model", MODEL, "--partner", "acme"),
            "answers of model chat-mini of acme made before",
            {"acme"},
        ),
    ],
)
def test_answers_of_before_are_void_at_once_and_nobody_elses_are(
    whose: tuple[str, ...],
    told: str,
    void: set[str],
    asker: Asker,
    deployed: Functions,
    tidegate: Command,
) -> None:
    result = tidegate(deployed, *whose)
    assert (result.exit_code, told in result.output) == (0, True), result.output
    assert "2030-03-17 17:46:" in result.output
    for _ in range(2):  # what is made anew serves as ever
        found = {
            "acme": asker.hits(),
            "globex": asker.hits("globex"),
            "second": asker.hits(model=OTHER),
        }
        assert {name for name, hit in found.items() if not hit} == void
        void = set()


def test_a_worker_of_the_model_is_asked_and_told_who_and_why(
    deployed: Functions, tidegate: Command
) -> None:
    tidegate(deployed, "--model", OTHER, why="the vendor's model had changed")
    tidegate(deployed, "--partner", "acme")
    (model, event), (_any, of_partner) = deployed.asked
    assert model == OTHER
    assert event == {
        "invalidate": {"model": OTHER, "partner": None},
        "by": "user/moto",
        "why": "the vendor's model had changed",
    }
    assert of_partner["invalidate"] == {"model": None, "partner": "acme"}


def test_twice_is_once(asker: Asker, deployed: Functions, tidegate: Command) -> None:
    told = [tidegate(deployed, "--model", MODEL).output.splitlines()[-1] for _ in range(2)]
    assert told[0] == told[1]
    assert not asker.hits()
    assert asker.hits()


@pytest.mark.parametrize(
    ("whose", "told"),
    [
        ((), "whose answers?"),
        (("--model", "chat-mimi"), "there is no model chat-mimi"),
        (("--partner", "acmee"), "acmee has no key"),
        (("--partner", "_operator"), "'_operator': 2 to 40 lower-case letters"),
    ],
)
def test_a_slip_of_the_pen_is_a_usage_error_and_nothing_is_asked(
    whose: tuple[str, ...], told: str, deployed: Functions, tidegate: Command
) -> None:
    result = tidegate(deployed, *whose)
    said = " ".join(result.output.replace("│", " ").split())
    assert (result.exit_code, told in said) == (2, True), result.output
    assert deployed.asked == []


def test_a_reason_is_asked_for(deployed: Functions, tidegate: Command) -> None:
    words = ["cache", "invalidate", "--model", MODEL, "--env", "dev"]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, deployed.asked) == (2, [])


def refuses(_model: str, _event: object) -> dict[str, Any]:
    return {"error": {"code": "validation_failed", "message": "why: too long"}}


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (refuses, "validation_failed: why: too long"),
        (raises("TooManyRequestsException", "rate"), "all workers of chat-mini are busy"),
        (raises("ResourceNotFoundException", "?"), "no function tidegate-dev-worker-chat-mini"),
        (raises("AccessDeniedException", "not allowed"), "not allowed"),
    ],
)
def test_what_cannot_be_done_is_said_and_fails(
    tidegate: Command, answers: Callable[[str, dict[str, Any]], Any], told: str
) -> None:
    result = tidegate(Functions(answers), "--model", MODEL, why="[red]so[/nonsense]")
    assert result.exit_code == 1
    assert told in result.output
    assert "void" not in result.output


def test_who_may_not_read_the_partners_is_told_so(
    tidegate: Command, deployed: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: Any, **__: Any) -> Any:
        error: Any = {"Error": {"Code": "AccessDeniedException", "Message": "no dynamodb:Query"}}
        raise ClientError(error, "Query")

    monkeypatch.setattr(cli.cache, "known", denied)
    result = tidegate(deployed, "--partner", "acme")
    assert (result.exit_code, "no dynamodb:Query" in result.output) == (1, True)
    assert deployed.asked == []


def test_an_invalidation_that_redis_missed_is_stored_and_heard_of_when_told_again(
    pipeline: Pipeline, asker: Asker, deployed: Functions, no_valkey: Valkey, tidegate: Command
) -> None:
    there, pipeline.valkey = pipeline.valkey, no_valkey
    missed = tidegate(deployed, "--model", MODEL)
    assert missed.exit_code == 1
    assert "are void" in missed.output
    assert "It is stored" in missed.output

    pipeline.valkey = there
    assert asker.hits()  # the copies of before, which live five minutes
    pipeline.clock.sleep(1)
    assert tidegate(deployed, "--model", MODEL).exit_code == 0
    assert not asker.hits()
