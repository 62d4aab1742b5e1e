"""The gate and the quarantine of the deployed stack: what nobody may see, and who decides on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from cli.ledger import audited
from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.aws import Aws
from tests.system.conftest import Command
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system

MODEL = "risk-report"
STRANGER, KNOWN = 9999, 1001
"""No member of the set of accounts of the stack, and one."""
FUNDS = 1_000_000
SCHEMA = {
    "type": "object",
    "properties": {"river": {"type": "string"}, "km": {"type": "integer", "minimum": 1}},
    "required": ["river", "km"],
}

Newcomer = Callable[[int], Partner]


def report(account: int, confidence: float = 0.5) -> str:
    """Return an answer that the model's schema allows."""
    rest = {"anomaly_detected": False, "risk_level": "LOW"}
    return json.dumps({"account_id": account, "confidence_score": confidence, **rest})


def items(aws: Aws, stack: StackInfo, partition: str) -> dict[str, dict[str, Any]]:
    """Return what the jobs table holds in a partition, by sort key."""
    found = aws.dynamodb.query(
        TableName=stack.tables["jobs"],
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": partition}},
        ConsistentRead=True,
    )
    return {item["sk"]["S"]: item for item in found["Items"]}


def remembered(stack: StackInfo, job_key: str) -> dict[str, str]:
    """Return what Redis holds of a work, by the last part of its key."""
    with Redis.from_url(stack.redis_url, decode_responses=True) as redis:
        names = list(redis.scan_iter(match=f"*{job_key}*", count=1000))
        return {name.rpartition(":")[2]: str(redis.get(name)) for name in names}


def reminders(aws: Aws, stack: StackInfo, job_id: str) -> int:
    """Return how many messages of the quarantine queue are of a job."""
    found = aws.sqs.receive_message(
        QueueUrl=stack.quarantine_queue, MaxNumberOfMessages=10, VisibilityTimeout=0
    )
    return sum(job_id in message["Body"] for message in found.get("Messages", []))


def quarantined(partner: Partner, body: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the job of an answer that named a stranger."""
    job = partner.run(body, key)
    assert (job["status"], job["output"]) == ("quarantined", None)
    assert (job["error"]["code"], job["error"]["stage"]) == ("reference_unknown", "gate")
    return job


def test_what_names_a_stranger_is_nobodys_and_the_next_answer_is_everybodys(
    newcomer: Newcomer,
    aws: Aws,
    stack: StackInfo,
    tidegate: Command,
    vendor: Vendor,
    words: Words,
) -> None:
    partner, prompt, key = newcomer(FUNDS), words("prompt"), words("key")
    body, confidence = ask(MODEL, prompt), 0.531297
    vendor.say(MODEL, report(STRANGER, confidence))
    job = quarantined(partner, body, key)
    refused = partner.result(job)
    assert (refused.status_code, refused.json()["code"]) == (409, "job_failed")
    assert job["error"]["message"] == "/account_id: is no member of accounts"

    of_job = items(aws, stack, f"job#{job['id']}")
    job_key = of_job["status"]["job_key"]["S"]
    assert [name for name in of_job if name.startswith("quarantine#")] == ["quarantine#000001"]
    assert "output" not in of_job
    assert "answer" not in items(aws, stack, f"work#{job_key}")
    mine = of_job["status"]["partner"]["S"]
    told = tidegate("quarantine", "list", "--model", MODEL, "--partner", mine)
    assert told.count(job["id"]) == 1
    assert told.splitlines()[-1] == f"{MODEL}: 1 (1 reference_unknown)"
    kept = remembered(stack, job_key)
    assert kept.keys() <= {"negative", "pending"}, "neither an answer nor a raw one"
    assert kept["negative"]
    assert str(confidence) not in str(kept) + str(job) + refused.text
    reminder = json.loads(aws.message(stack.quarantine_queue, job["id"]))
    assert reminder == {"v": 1, "job_id": job["id"], "reason": "reference_unknown"}
    assert reminders(aws, stack, job["id"]) == 0, "there was one"

    assert partner.usage() == {"available": FUNDS, "reserved": 0, "captured": 0}
    [found] = audited(aws.dynamodb, stack.tables["ledger"], stack.tables["jobs"], mine)
    assert (found.sums.available, found.sums.reserved, found.sums.captured) == (FUNDS, 0, 0)
    assert found.differences == []

    vendor.say(MODEL, report(KNOWN))
    anew = partner.run(body, words("key"))
    assert (anew["status"], anew["source"]) == ("completed", "vendor")
    assert anew["output"]["data"]["account_id"] == KNOWN
    assert len(vendor.calls(prompt)) == 2
    hit = partner.post(body, words("key"), wait=None)
    assert (hit.status_code, hit.json()["source"]) == (200, "cache")
    assert hit.json()["output"] == anew["output"]
    old = partner.post(body, key, wait=None)
    assert (old.json()["id"], old.json()["status"]) == (job["id"], "quarantined")


def test_an_operator_releases_an_answer_to_its_partner_alone(
    newcomer: Newcomer,
    aws: Aws,
    stack: StackInfo,
    tidegate: Command,
    vendor: Vendor,
    words: Words,
) -> None:
    partner, prompt, key = newcomer(FUNDS), words("prompt"), words("key")
    body = ask(MODEL, prompt)
    vendor.say(MODEL, report(STRANGER))
    job = quarantined(partner, body, key)
    until(lambda: reminders(aws, stack, job["id"]), patience=30, awaited="a message about it")

    decision = ("quarantine", "release", job["id"], "--why", "opened this morning")
    assert tidegate(*decision).splitlines()[-1] == "1 released"

    def completed() -> dict[str, Any] | None:
        shown: dict[str, Any] = partner.http.get(f"/v1/jobs/{job['id']}").json()
        return shown if shown["status"] == "completed" else None

    given = until(completed, patience=30, awaited="the released answer")
    assert given["output"]["data"]["account_id"] == STRANGER
    assert (given["released"], given["error"]) == (True, None)
    assert partner.result(job).json() == given["output"]
    assert partner.post(body, key, wait=None).json()["output"] == given["output"]
    charged = given["price"]["charged_micro_credits"]
    paid = {"available": FUNDS - charged, "reserved": 0, "captured": charged}
    assert charged > 0
    assert partner.usage() == paid
    assert tidegate(*decision).splitlines()[-1] == "1 released", "asked twice is once"
    assert partner.usage() == paid
    assert reminders(aws, stack, job["id"]) == 0
    assert len(vendor.calls(prompt)) == 1

    job_key = items(aws, stack, f"job#{job['id']}")["status"]["job_key"]["S"]
    assert "answer" not in items(aws, stack, f"work#{job_key}")
    assert "result" not in remembered(stack, job_key)
    vendor.say(MODEL, report(KNOWN))
    another = partner.run(body, words("key"))
    assert (another["source"], another["output"]["data"]["account_id"]) == ("vendor", KNOWN)
    assert len(vendor.calls(prompt)) == 2


def test_a_schema_of_the_partners_own(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    prompt, model = words("prompt"), "chat-mini"
    body = ask(model, prompt) | {"response_schema": SCHEMA}
    vendor.say(model, '{ "river": "Nile",\n "km": 6650.0 }')
    job = acme.run(body, words("key"))
    assert job["status"] == "completed", job["error"]
    assert job["output"] == {
        "text": '{"km":6650,"river":"Nile"}', "data": {"river": "Nile", "km": 6650},
    }  # fmt: skip
    assert "river" in json.dumps(vendor.calls(prompt)[0]["body"]["response_format"])

    other = words("prompt")
    vendor.say(model, '{"river": "Nile", "km": 0}')
    failed = acme.run(ask(model, other) | {"response_schema": SCHEMA}, words("key"))
    assert (failed["status"], failed["error"]["code"]) == ("quarantined", "schema")
    assert failed["error"]["message"].startswith("/km: ")
    aws.message(stack.quarantine_queue, failed["id"])

    jobs, third = aws.job_ids(), words("prompt")
    wrong = {**SCHEMA, "properties": {"river": {"type": "text"}}}
    refused = acme.post(ask(model, third) | {"response_schema": wrong}, words("key"))
    assert (refused.status_code, refused.json()["code"]) == (422, "validation_failed")
    assert "/response_schema/properties/river/type" in refused.text
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert aws.job_ids() == jobs
    assert vendor.calls(third) == []
