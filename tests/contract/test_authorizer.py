"""The authorizer on moto: who gets in, and with what."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import boto3
import pytest

from authorizer.handler import Unauthorized, authorize, handler
from tests.fakes import FakeClock, FakeIds
from tests.pipeline import ROOT
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.partners import Partners
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
    assert got == "acme"


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
