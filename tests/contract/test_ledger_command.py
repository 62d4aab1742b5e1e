"""`tidegate ledger verify` and `tidegate partners credit` over real tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from cli.ledger import audited
from cli.local import redis
from cli.main import app
from cli.partners import add_credit, add_partner
from tests.cloud import client_of_dev
from tests.contract.jobs import loaded
from tests.contract.replaying import asks, books, dead_letters, differences, replayed, work
from tests.pipeline import FUNDS, Pipeline
from tidegate.doors.actions import packed
from tidegate.doors.ledger import Ledger
from tidegate.rules.job import Status


@pytest.fixture
def redis_url(redis_single: str) -> str:
    """One empty Redis: money is the same over either kind."""
    redis.flush(redis_single)
    return redis_single


@pytest.fixture
def busy(pipeline: Pipeline) -> dict[str, str]:
    """Ids of three jobs: completed after a replay, dead-lettered, and waiting."""
    done, dead = dead_letters(pipeline, 2)
    replayed(pipeline, job_ids=[done])
    work(pipeline)
    return {"done": done, "dead": dead, "waiting": asks(pipeline, "another", "globex")}


def entry(pipeline: Pipeline, partner: str, effect: str) -> dict[str, Any]:
    key = packed({"pk": f"ledger#{partner}", "sk": effect})
    return pipeline.dynamodb.get_item(TableName="ledger", Key=key)["Item"]


def remove(pipeline: Pipeline, partner: str, effect: str) -> None:
    key = packed({"pk": f"ledger#{partner}", "sk": effect})
    pipeline.dynamodb.delete_item(TableName="ledger", Key=key)


def add(pipeline: Pipeline, partner: str, **amounts: int) -> None:
    for name, amount in amounts.items():
        pipeline.dynamodb.update_item(
            TableName="ledger",
            Key=packed({"pk": f"balance#{partner}", "sk": "balance"}),
            UpdateExpression=f"ADD {name} :amount",
            ExpressionAttributeValues=packed({":amount": amount}),
        )


def test_what_tidegate_did_verifies(pipeline: Pipeline, busy: dict[str, str]) -> None:
    assert differences(pipeline) == []
    acme, globex, umbrella = books(pipeline)
    assert (acme.partner, acme.jobs, acme.balance.reserved) == ("acme", 2, 0)
    assert acme.balance.captured == loaded(pipeline, busy["done"]).charged > 0
    assert acme.sums.entries == acme.balance.entries == 7
    assert (globex.jobs, globex.balance.reserved) == (
        1, loaded(pipeline, busy["waiting"]).reserved,
    )  # fmt: skip
    assert (umbrella.jobs, umbrella.balance.available) == (0, FUNDS)


def test_a_tampered_balance_is_found(pipeline: Pipeline, busy: dict[str, str]) -> None:
    add(pipeline, "acme", available=1)
    (found,) = differences(pipeline)
    assert re.fullmatch(r"balance: available is \d+, the entries come to \d+", found)


def test_a_missing_settlement_is_found_though_the_sums_are_right(
    pipeline: Pipeline, busy: dict[str, str]
) -> None:
    job = loaded(pipeline, busy["done"])
    remove(pipeline, "acme", f"{job.id}#1#settle")
    back = job.reserved - job.charged
    add(
        pipeline, "acme",
        available=-back, reserved=job.reserved, captured=-job.charged, entries=-1,
    )  # fmt: skip
    assert differences(pipeline) == [
        f"{job.id}: opening 1 is over, its reservation of {job.reserved} is not",
        f"{job.id}: charged {job.charged}, captured 0",
    ]


def test_an_effect_that_is_there_twice_is_found_though_the_sums_are_right(
    pipeline: Pipeline, busy: dict[str, str]
) -> None:
    job = loaded(pipeline, busy["done"])
    twice = entry(pipeline, "acme", f"{job.id}#1#settle")
    pipeline.dynamodb.put_item(
        TableName="ledger", Item={**twice, "sk": {"S": f"{job.id}#2#settle"}}
    )
    back = job.reserved - job.charged
    add(
        pipeline, "acme", available=back, reserved=-job.reserved, captured=job.charged, entries=1,
    )  # fmt: skip
    found = differences(pipeline)
    assert f"{job.id}: captured 2 times" in found
    assert f"{job.id}: effects of re-opening 2, but it was re-opened 1 times" in found


def test_a_job_charged_otherwise_and_one_that_ended_past_the_ledger_are_found(
    pipeline: Pipeline, busy: dict[str, str]
) -> None:
    for job_id, name, value in (
        (busy["done"], "charged", 1),
        (busy["waiting"], "status", "failed"),
    ):
        pipeline.dynamodb.update_item(
            TableName="jobs",
            Key=packed({"pk": f"job#{job_id}", "sk": "status"}),
            UpdateExpression="SET #name = :value",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues=packed({":value": value}),
        )
    charged, waiting = loaded(pipeline, busy["done"]), loaded(pipeline, busy["waiting"])
    assert (charged.charged, waiting.status) == (1, Status.FAILED)
    found = differences(pipeline)
    assert len(found) == 2
    assert found[0].startswith(f"{busy['done']}: charged 1, captured ")
    assert found[1].startswith(f"{busy['waiting']}: opening 0 is over")


def test_work_that_goes_on_meanwhile_is_no_difference(
    pipeline: Pipeline, busy: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the reading of the jobs and of the money, one ends and another is accepted."""
    read = Ledger.partners

    def meanwhile(ledger: Ledger) -> list[str]:
        work(pipeline)
        asks(pipeline, "one-more", "globex")
        return read(ledger)

    monkeypatch.setattr(Ledger, "partners", meanwhile)
    assert [each for partner in books(pipeline) for each in partner.differences] == []
    assert loaded(pipeline, busy["waiting"]).status is Status.COMPLETED


def test_a_balance_that_never_stands_still_is_not_called_right(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, given = Ledger.entries, iter(range(10**6))

    def meanwhile(ledger: Ledger, partner: str) -> Any:
        found = list(read(ledger, partner))
        ledger.credit(partner, f"more-{next(given)}", 1, 0)
        return iter(found)

    monkeypatch.setattr(Ledger, "entries", meanwhile)
    (acme,) = audited(pipeline.dynamodb, "ledger", "jobs", "acme")
    assert acme.differences == ["the balance kept changing while it was read; verify again"]


@pytest.fixture
def tidegate(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command, on this pipeline's tables."""
    monkeypatch.setattr(boto3, "client", client_of_dev)
    return lambda *words: CliRunner().invoke(app, [*words, "--env", "dev"])


def test_verify_says_how_many_differences_there_are(
    pipeline: Pipeline, busy: dict[str, str], tidegate: Callable[..., Result]
) -> None:
    good = tidegate("ledger", "verify")
    assert (good.exit_code, good.output.splitlines()[-1]) == (0, "differences: 0")
    add(pipeline, "globex", captured=5, available=-5)
    bad = tidegate("ledger", "verify")
    assert (bad.exit_code, bad.output.splitlines()[-1]) == (1, "differences: 2")
    assert "globex: balance: captured is 5, the entries come to 0" in bad.output
    assert tidegate("ledger", "verify", "--partner", "acme").exit_code == 0


def test_credits_are_given_once_by_id_and_to_nobody_by_mistake(
    pipeline: Pipeline, tidegate: Callable[..., Result]
) -> None:
    add_partner(pipeline.dynamodb, "partners", "acme")
    first = tidegate("partners", "credit", "acme", "2.5", "--id", "invoice-7")
    assert (first.exit_code, "2.5 credits given." in first.output) == (0, True)
    again = tidegate("partners", "credit", "acme", "2.5", "--id", "invoice-7")
    assert (again.exit_code, "given before" in again.output) == (0, True)
    assert pipeline.ledger.balance("acme").available == FUNDS + 2_500_000
    assert "1,002.500000" in tidegate("partners", "balance", "acme").output

    for words in (
        ("acme", "3", "--id", "invoice-7"),
        ("acme", "-1"),
        ("acme", "0.0000001"),
        ("acme", "1", "--id", "a#b"),
        ("acmee", "1"),
    ):
        assert tidegate("partners", "credit", *words).exit_code == 2
    named = tidegate("partners", "credit", "acme", "1")
    assert re.search(r"^id: [0-9a-f]{16}$", named.output, re.MULTILINE)
    assert pipeline.ledger.balance("acme").available == FUNDS + 3_500_000
    assert differences(pipeline) == []


def test_other_code_gives_credits_with_the_same_care(pipeline: Pipeline) -> None:
    assert add_credit(pipeline.dynamodb, "ledger", "new-partner", 7, "funds")
    assert not add_credit(pipeline.dynamodb, "ledger", "new-partner", 7, "funds")
    assert pipeline.ledger.balance("new-partner").available == 7
    with pytest.raises(ValueError, match="letters"):
        add_credit(pipeline.dynamodb, "ledger", "New Partner", 7, "funds")
