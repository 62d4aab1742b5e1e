"""The account that pays for making stale answers anew, as an operator's commands show it."""

from __future__ import annotations

from collections.abc import Callable

import boto3
import pytest
from typer.testing import CliRunner, Result

from cli.local import redis
from cli.main import app
from tests.cloud import client_of_dev
from tests.contract.test_accept import BODY
from tests.pipeline import Pipeline
from tidegate.doors.actions import packed
from tidegate.rules.job import OPERATOR

MODEL = "chat-mini"
Command = Callable[..., Result]


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: money is the same over either kind."""
    redis.flush(redis_single)
    return redis_single


@pytest.fixture
def money(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command that reads or writes money, and nothing else."""
    pipeline.worker(MODEL)  # makes clients of its own, of what is not DynamoDB
    monkeypatch.setattr(boto3, "client", client_of_dev)
    return lambda *words: CliRunner().invoke(app, [*words, "--env", "dev"])


@pytest.fixture
def refreshed(pipeline: Pipeline) -> int:
    """Have a stale answer made anew; return what that cost, in micro-credits."""
    body = {**BODY, "params": {"temperature": 0}}
    soft = pipeline.models.models[MODEL].cache.soft_ttl
    assert soft is not None
    pipeline.post(body, "first")
    pipeline.deliver(MODEL)
    pipeline.later(soft)
    assert pipeline.post(body, "second").json["cache"]["stale"]
    assert pipeline.deliver(f"{MODEL}-low") == 1
    assert not pipeline.post(body, "third").json["cache"]["stale"]
    captured = pipeline.ledger.balance(OPERATOR).captured
    assert captured > 0
    return captured


def test_what_refreshes_cost_is_shown_and_verified(
    refreshed: int, pipeline: Pipeline, money: Command
) -> None:
    shown = money("partners", "balance", OPERATOR)
    assert f"{'captured':<10} {refreshed / 1e6:>18,.6f}" in shown.output
    verified = money("ledger", "verify")
    assert (verified.exit_code, OPERATOR in verified.output) == (0, True), verified.output
    pipeline.dynamodb.update_item(
        TableName="ledger",
        Key=packed({"pk": f"balance#{OPERATOR}", "sk": "balance"}),
        UpdateExpression="ADD captured :one",
        ExpressionAttributeValues=packed({":one": 1}),
    )
    verified = money("ledger", "verify")
    assert (verified.exit_code, f"{OPERATOR}: balance: captured" in verified.output) == (1, True)


def test_nobody_is_the_operator_by_name(money: Command) -> None:
    for words in (
        ("partners", "create", OPERATOR),
        ("partners", "credit", OPERATOR, "1"),
        ("partners", "limit", OPERATOR, "--requests-per-minute", "5"),
    ):
        assert money(*words).exit_code == 2, words
