"""The authorizer on moto: who gets in, with what, and with which limit."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from authorizer.handler import Unauthorized, authorize, handler
from cli.main import app
from tests.cloud import client_of_dev
from tests.fakes import FakeClock, FakeIds
from tests.pipeline import ROOT
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.partners import Partners
from tidegate.errors import Conflict
from tidegate.rules.partner_key import PartnerKey, mint

EVENT: dict[str, Any] = json.loads(Path(ROOT / "events" / "authorizer.json").read_text())


@pytest.fixture
def partners(aws: None) -> Partners:
    client = boto3.client("dynamodb")
    return Partners(Table(client, "partners", FakeClock(), FakeIds()))


@pytest.fixture
def key(partners: Partners) -> PartnerKey:
    key = mint(secrets.token_bytes)
    partners.add_key("acme", key, 0.0)
    return key


def event(authorization: str | None) -> dict[str, Any]:
    return {**EVENT, "headers": {"Authorization": authorization} if authorization else {}}


def test_a_partners_key_opens_the_whole_stage(
    partners: Partners, key: PartnerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_ENV", "local")
    monkeypatch.setenv("PARTNERS_TABLE", "partners")
    answer = handler(event(f"Bearer {key.reveal()}"), None)

    assert answer["context"] == {"partner": "acme"}
    (statement,) = answer["policyDocument"]["Statement"]
    assert statement["Effect"] == "Allow"
    assert statement["Resource"].endswith(":abc123/dev/*/*")


def test_a_header_name_in_lower_case_is_the_same(partners: Partners, key: PartnerKey) -> None:
    got = authorize({"headers": {"authorization": f"bearer {key.reveal()}"}}, partners)
    assert got.partner == "acme"


def test_everything_else_is_unauthorized(partners: Partners, key: PartnerKey) -> None:
    other = mint(secrets.token_bytes)
    wrong = PartnerKey(key.key_id, other.secret)
    for authorization in (
        None,
        "",
        "Bearer",
        "Bearer ",
        key.reveal(),
        f"Basic {key.reveal()}",
        f"Bearer {other.reveal()}",
        f"Bearer {wrong.reveal()}",
        f"Bearer {key.reveal()}x",
        "Bearer " + "x" * 10_000,
    ):
        with pytest.raises(Unauthorized, match=r"^Unauthorized$"):
            authorize(event(authorization), partners)


def test_a_revoked_key_is_unauthorized(partners: Partners, key: PartnerKey) -> None:
    boto3.client("dynamodb").update_item(
        TableName="partners",
        Key={"pk": {"S": f"key#{key.key_id}"}, "sk": {"S": "key"}},
        UpdateExpression="SET #s = :revoked",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":revoked": {"S": "revoked"}},
    )
    with pytest.raises(Unauthorized):
        authorize(event(f"Bearer {key.reveal()}"), partners)


def test_only_the_hash_is_stored_and_a_key_id_is_given_once(
    partners: Partners, key: PartnerKey
) -> None:
    stored = json.dumps(boto3.client("dynamodb").scan(TableName="partners")["Items"])
    assert key.secret not in stored
    with pytest.raises(ConditionFailed):
        partners.add_key("umbrella", PartnerKey(key.key_id, mint(secrets.token_bytes).secret), 0.0)


@pytest.fixture
def tidegate(aws: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`tidegate partners`, on these tables."""
    monkeypatch.setattr(boto3, "client", client_of_dev)
    return lambda *words: CliRunner().invoke(app, ["partners", *words, "--env", "dev"])


def context(key: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what API Gateway is told of a key."""
    monkeypatch.setenv("TIDEGATE_ENV", "local")
    monkeypatch.setenv("PARTNERS_TABLE", "partners")
    told: dict[str, str] = handler(event(f"Bearer {key}"), None)["context"]
    return told


def test_a_partners_own_limit_comes_with_every_key_it_has_and_gets(
    tidegate: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tidegate("create", "acme").stdout.strip()
    other = tidegate("create", "globex").stdout.strip()
    assert context(first, monkeypatch) == {"partner": "acme"}

    done = tidegate("limit", "acme", "--requests-per-minute", "600")
    assert (done.exit_code, "requests per minute: 600" in done.output) == (0, True)
    created = tidegate("create", "acme")
    assert created.stderr == "requests per minute: 600\n"
    second = created.stdout.strip()  # the key alone, for scripts
    for key in (first, second):
        told = context(key, monkeypatch)
        assert told == {"partner": "acme", "requests_per_minute": "600"}
        assert all(type(value) is str for value in told.values())
    assert context(other, monkeypatch) == {"partner": "globex"}

    tidegate("limit", "acme", "--requests-per-minute", "60")
    assert context(first, monkeypatch)["requests_per_minute"] == "60"
    assert "requests per minute: 60\n" in tidegate("limit", "acme").output

    removed = tidegate("limit", "acme", "--default")
    assert (removed.exit_code, "as the catalogue says" in removed.output) == (0, True)
    third = tidegate("create", "acme").stdout.strip()
    for key in (first, second, third):
        assert context(key, monkeypatch) == {"partner": "acme"}


def test_a_limit_that_makes_no_sense_is_refused_and_so_is_a_stranger(
    tidegate: Callable[..., Result],
) -> None:
    tidegate("create", "acme")
    for words in (
        ("acme", "--requests-per-minute", "0"),
        ("acme", "--requests-per-minute", "1000001"),
        ("acme", "--requests-per-minute", "many"),
        ("acme", "--requests-per-minute", "5", "--default"),
        ("acmee", "--requests-per-minute", "5"),
        ("acmee",),
    ):
        assert tidegate("limit", *words).exit_code == 2
    assert "as the catalogue says" in tidegate("limit", "acme").output


def test_the_authorizer_reads_one_item(partners: Partners, key: PartnerKey) -> None:
    partners.set_limit("acme", 7)
    calls: list[str] = []
    client = partners._table._client
    client.meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name))
    assert authorize(event(f"Bearer {key.reveal()}"), partners).requests_per_minute == 7
    assert calls == ["GetItem"]


def test_a_key_made_while_a_limit_is_set_has_it(
    partners: Partners, key: PartnerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is set after the key's maker has read what it was, and before the key is there."""
    late, limit = mint(secrets.token_bytes), Partners.limit

    def then_set(self: Partners, partner: str) -> int | None:
        was = limit(self, partner)
        monkeypatch.setattr(Partners, "limit", limit)
        self.set_limit(partner, 9)
        return was

    monkeypatch.setattr(Partners, "limit", then_set)
    partners.add_key("acme", late, 0.0)
    for each in (key, late):
        found = partners.find_key(each.key_id)
        assert found is not None
        assert found.requests_per_minute == 9


def test_of_two_limits_set_at_once_one_is_told_and_the_other_holds(
    partners: Partners, key: PartnerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = Partners.key_ids

    def overtaken(self: Partners, partner: str) -> Any:
        monkeypatch.setattr(Partners, "key_ids", ids)
        self.set_limit(partner, 20)
        return ids(self, partner)

    monkeypatch.setattr(Partners, "key_ids", overtaken)
    with pytest.raises(Conflict, match="set it again"):
        partners.set_limit("acme", 10)
    found = partners.find_key(key.key_id)
    assert found is not None
    assert found.requests_per_minute == partners.limit("acme") == 20


def test_a_limit_that_never_stands_still_makes_no_key(
    partners: Partners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Partners, "limit", lambda _self, _partner: 1)
    late = mint(secrets.token_bytes)
    with pytest.raises(Conflict):
        partners.add_key("acme", late, 0.0)
    assert partners.find_key(late.key_id) is None
