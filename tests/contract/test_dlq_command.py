"""`tidegate dlq` on a terminal: what is asked of the function, and what a person is told."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner, Result

import cli.dlq
from cli.local import redis
from cli.main import app
from tests.contract.jobs import loaded
from tests.contract.replaying import MODEL, bodies, dead_letters, run
from tests.pipeline import Pipeline
from tidegate.rules.job import Status
from tidegate.telemetry import Telemetry


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: dead letters are the same over either kind."""
    redis.flush(redis_single)
    return redis_single


class Function:
    """The deployed replay function, as boto3's Lambda client calls it."""

    def __init__(self, answers: Callable[[dict[str, Any]], Any]) -> None:
        self.answers = answers
        self.events: list[dict[str, Any]] = []
        self.error: str | None = None

    def invoke(self, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803
        assert FunctionName == "tidegate-dev-replay"
        self.events.append(json.loads(Payload))
        answer = self.answers(self.events[-1])
        reply: dict[str, Any] = {"Payload": io.BytesIO(json.dumps(answer).encode())}
        return reply | ({"FunctionError": self.error} if self.error else {})


@pytest.fixture
def tidegate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    Telemetry("replay", "local")  # a logger writes where its first maker did

    def command(function: Function, *words: str) -> Result:
        monkeypatch.setattr(cli.dlq, "_client", lambda *_: function)
        return CliRunner().invoke(app, ["dlq", *words, "--env", "dev", "--model", MODEL])

    return command


def test_a_look_a_dry_run_and_then_for_real(
    pipeline: Pipeline, tidegate: Callable[..., Result]
) -> None:
    jobs = dead_letters(pipeline, 3)
    function = Function(lambda event: run(pipeline, event))

    listed = tidegate(function, "list")
    assert listed.exit_code == 0
    for job_id in jobs:
        assert job_id in listed.output
    assert f"{MODEL}: 3 listed" in listed.output
    looked = tidegate(function, "replay", "--partner", "acme", "--code", "vendor_failed")
    assert f"{MODEL}: 3 would_replay" in looked.output
    assert "Nothing was done; --yes does it." in looked.output
    assert len(bodies(pipeline)) == 3

    done = tidegate(function, "replay", "--partner", "acme", "--yes", "--rate", "50")
    assert (done.exit_code, f"{MODEL}: 3 replayed" in done.output) == (0, True)
    assert bodies(pipeline) == []
    assert {loaded(pipeline, job_id).status for job_id in jobs} == {Status.QUEUED}
    assert [event["action"] for event in function.events] == ["list", "replay", "replay"]
    assert function.events[-1] == {
        "action": "replay", "model": MODEL, "filter": {"partner": "acme"}, "dry_run": False,
        "rate_per_second": 50.0, "limit": 1000,
    }  # fmt: skip
    assert f"{MODEL}: nothing there" in tidegate(function, "list").output


def test_named_jobs_need_no_yes(pipeline: Pipeline, tidegate: Callable[..., Result]) -> None:
    first, second = dead_letters(pipeline, 2)
    function = Function(lambda event: run(pipeline, event))
    assert "1 replayed" in tidegate(function, "replay", "--id", first).output
    assert "1 discarded" in tidegate(function, "discard", "--id", second).output
    assert bodies(pipeline) == []
    assert loaded(pipeline, second).status is Status.DEAD_LETTERED


def test_it_goes_on_while_there_is_more_and_knows_its_own_beginning(
    pipeline: Pipeline, tidegate: Callable[..., Result]
) -> None:
    dead_letters(pipeline, 3)
    function = Function(lambda event: run(pipeline, {**event, "limit": 1}))  # as if out of time
    done = tidegate(function, "replay", "--yes")
    assert f"{MODEL}: 3 replayed" in done.output
    assert "There is more" not in done.output
    assert "before" not in function.events[0]
    assert {event["before"] for event in function.events[1:]} == {1_900_000_000.0}


def test_the_limit_is_that_of_all_calls_together(
    pipeline: Pipeline, tidegate: Callable[..., Result]
) -> None:
    dead_letters(pipeline, 3)
    done = tidegate(Function(lambda event: run(pipeline, event)), "replay", "--yes", "--limit", "2")
    assert f"{MODEL}: 2 replayed" in done.output
    assert "There is more" in done.output
    assert len(bodies(pipeline)) == 1


def refuses(_event: object) -> dict[str, Any]:
    return {"error": {"code": "unknown_model", "message": "it is not in the catalogue"}}


def busy(_event: object) -> dict[str, Any]:
    error: Any = {"Error": {"Code": "TooManyRequestsException", "Message": "Rate exceeded"}}
    raise ClientError(error, "Invoke")


def no_rights(_event: object) -> dict[str, Any]:
    error: Any = {"Error": {"Code": "AccessDeniedException", "Message": "not allowed"}}
    raise ClientError(error, "Invoke")


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (refuses, "unknown_model: it is not in the catalogue"),
        (busy, "another replay is running"),
        (no_rights, "not allowed"),
    ],
)
def test_what_cannot_be_done_is_said_and_fails(
    tidegate: Callable[..., Result], answers: Callable[[dict[str, Any]], Any], told: str
) -> None:
    result = tidegate(Function(answers), "replay", "--yes")
    assert result.exit_code == 1
    assert told in result.output


def test_a_function_that_broke_fails_the_command(tidegate: Callable[..., Result]) -> None:
    function = Function(lambda _event: {"errorMessage": "out of memory"})
    function.error = "Unhandled"
    result = tidegate(function, "list")
    assert (result.exit_code, "out of memory" in result.output) == (1, True)


def test_a_message_that_failed_fails_the_command_and_markup_is_shown_as_it_is(
    tidegate: Callable[..., Result],
) -> None:
    item = dict.fromkeys(cli.dlq.COLUMNS) | {
        "message_id": "m-1", "result": "failed", "reason": "[red]ClientError[/nonsense]",
    }  # fmt: skip
    answer = {
        "dry_run": False, "more": False, "done": 0, "begun_at": 1.0, "hidden": 4, "items": [item],
    }  # fmt: skip
    result = tidegate(Function(lambda _event: answer), "replay", "--yes")
    assert result.exit_code == 1
    for words in ("message m-1", "[red]ClientError[/nonsense]", "1 failed", "About 4 messages"):
        assert words in result.output
