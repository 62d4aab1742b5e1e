"""`tidegate models` on a terminal: what is asked of a model's worker, and what a person is told."""

from __future__ import annotations

import getpass
import io
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import cli.models
from cli.local import redis
from cli.main import app
from tests.contract.commands import raises
from tests.contract.jobs import loaded
from tests.contract.test_accept import BODY
from tests.fakes import LambdaContext
from tests.pipeline import Pipeline, catalogue
from tidegate.doors.pace import Caller
from tidegate.doors.valkey import Valkey
from tidegate.rules.job import Status
from tidegate.telemetry import Telemetry
from worker.handler import handle

MODEL = "chat-mini"
CALLER = Caller("r-1", "r-1", "acme", "normal", 10)


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: a switch is the same over either kind."""
    redis.flush(redis_single)
    return redis_single


class Functions:
    """The deployed workers, as boto3's Lambda client calls them."""

    def __init__(self, answers: Callable[[str, dict[str, Any]], Any]) -> None:
        self.answers = answers
        self.events: list[dict[str, Any]] = []
        self.error: str | None = None

    def invoke(self, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803
        before, _, model = FunctionName.partition("-worker-")
        assert before == "tidegate-dev"
        event = json.loads(Payload)
        self.events.append(event)
        answer = self.answers(model, event)
        reply: dict[str, Any] = {"Payload": io.BytesIO(json.dumps(answer).encode())}
        return reply | ({"FunctionError": self.error} if self.error else {})


@pytest.fixture
def tidegate(aws: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    Telemetry("worker", "local")  # a logger writes where its first maker did

    def command(functions: Functions, *words: str) -> Result:
        monkeypatch.setattr(cli.models, "client", lambda *_: functions)
        return CliRunner().invoke(app, ["models", *words, "--env", "dev"])

    return command


@pytest.fixture
def deployed(pipeline: Pipeline) -> Functions:
    def worked(model: str, event: dict[str, Any]) -> Any:
        context: Any = LambdaContext()
        return handle(event, context, pipeline.worker(model), pipeline.models.models[model])

    return Functions(worked)


def test_a_paused_model_is_not_called_until_it_is_resumed(
    pipeline: Pipeline, deployed: Functions, tidegate: Callable[..., Result]
) -> None:
    paused = tidegate(deployed, "pause", MODEL, "--why", "price review")
    assert paused.exit_code == 0, paused.output
    for words in (MODEL, "paused by hand", "price review", "2030-03-17 17:46:40Z"):
        assert words in paused.output
    job = pipeline.post(BODY).json["id"]
    pipeline.deliver(MODEL)
    assert pipeline.vendor.calls == []
    assert loaded(pipeline, job).status is Status.QUEUED

    resumed = tidegate(deployed, "resume", MODEL)
    assert (resumed.exit_code, "yes" in resumed.output) == (0, True)
    pipeline.worker(MODEL).queue.send(pipeline.queue_url(MODEL), job, "acme")
    pipeline.deliver(MODEL)
    assert len(pipeline.vendor.calls) == 1
    assert loaded(pipeline, job).status is Status.COMPLETED
    assert [event["switch"] for event in deployed.events] == ["pause", "resume"]
    assert "seconds" not in deployed.events[0]
    assert "why" not in deployed.events[1]


def test_a_pause_for_a_while_says_when_it_ends(
    deployed: Functions, tidegate: Callable[..., Result]
) -> None:
    paused = tidegate(deployed, "pause", MODEL, "--why", "a look", "--for", "90")
    assert deployed.events[0]["seconds"] == 90
    assert "2030-03-17 17:48:10Z" in paused.output


def test_all_models_are_shown_with_a_cool_down_that_has_been_set(
    pipeline: Pipeline, deployed: Functions, tidegate: Callable[..., Result]
) -> None:
    pipeline.clock.time = time.time()  # Redis has set its own: the cool-down ends by that
    pace = pipeline.worker("chat-claude").pacing.pace
    pace.switch(off=False, until=None, turned=False)
    pace.cool_down(CALLER, None, "account")
    shown = tidegate(deployed, "show")
    assert shown.exit_code == 0
    assert all(model in shown.output for model in catalogue().models)
    assert {event["switch"] for event in deployed.events} == {"show"}
    [row] = [line for line in shown.output.splitlines() if "chat-claude" in line]
    assert "account refused" in row
    one = tidegate(deployed, "show", MODEL)
    assert ("yes" in one.output, "chat-claude" in one.output) == (True, False)


def test_the_rate_shown_rises_again_as_the_rate_does(
    pipeline: Pipeline, deployed: Functions, tidegate: Callable[..., Result]
) -> None:
    pipeline.clock.time = time.time()
    pipeline.worker(MODEL).pacing.pace.cool_down(CALLER, 0.5, "throttled")
    assert "throttled, 1 s left" in tidegate(deployed, "show", MODEL).output
    pipeline.clock.sleep(60)
    later = tidegate(deployed, "show", MODEL).output
    assert ("one, to try" in later, "85%" in later) == (True, True)


def test_who_asks_is_what_aws_calls_the_credentials(
    deployed: Functions, tidegate: Callable[..., Result]
) -> None:
    tidegate(deployed, "resume", MODEL, "--region", "us-east-1")
    assert deployed.events[0]["by"] == "user/moto"


def test_where_aws_does_not_say_it_is_the_user_of_this_machine(
    deployed: Functions, tidegate: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "jane")
    tidegate(deployed, "resume", MODEL, "--endpoint-url", "http://127.0.0.1:1")
    assert deployed.events[0]["by"] == "jane"


def refuses(_model: str, _event: object) -> dict[str, Any]:
    return {"error": {"code": "validation_failed", "message": "seconds: too many"}}


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (refuses, "validation_failed: seconds: too many"),
        (raises("TooManyRequestsException", "rate"), "all its workers are busy; try again"),
        (raises("ResourceNotFoundException", "?"), "no function tidegate-dev-worker-chat-mini"),
        (raises("AccessDeniedException", "not allowed"), "not allowed"),
    ],
)
def test_what_cannot_be_done_is_said_and_fails(
    tidegate: Callable[..., Result], answers: Callable[[str, dict[str, Any]], Any], told: str
) -> None:
    result = tidegate(Functions(answers), "pause", MODEL, "--why", "[red]so[/nonsense]")
    assert result.exit_code == 1
    assert told in result.output


def test_a_worker_that_broke_fails_the_command(tidegate: Callable[..., Result]) -> None:
    functions = Functions(lambda *_: {"errorMessage": "out of memory"})
    functions.error = "Unhandled"
    result = tidegate(functions, "show", MODEL)
    assert (result.exit_code, "out of memory" in result.output) == (1, True)


def test_a_pause_that_redis_missed_is_made_known_by_the_next_look(
    pipeline: Pipeline, deployed: Functions, no_valkey: Valkey, tidegate: Callable[..., Result]
) -> None:
    tidegate(deployed, "show", MODEL)  # so Redis knows that the model is on
    there, pipeline.valkey = pipeline.valkey, no_valkey
    paused = tidegate(deployed, "pause", MODEL, "--why", "so")
    assert (paused.exit_code, "It is stored" in paused.output) == (1, True)
    assert "paused by hand" in paused.output
    shown = tidegate(deployed, "show", MODEL)
    assert (shown.exit_code, "It is stored" in shown.output) == (1, False)

    pipeline.valkey = there
    assert tidegate(deployed, "show", MODEL).exit_code == 0
    assert pipeline.worker(MODEL).pacing.pace.take(CALLER, 9, 5).why == "switched_off"
