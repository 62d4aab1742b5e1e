"""Jobs that cannot succeed: ended with the reason, kept for the operator, paid for no further."""

from __future__ import annotations

import json

import pytest

from cli.local.stack import StackInfo
from tests.system.aws import Aws
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system


def test_a_vendor_that_always_fails(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    model, prompt, key = "code-command", words("prompt"), words("key")
    vendor.fail(model, 500, times=None)
    body = ask(model, prompt)
    job = acme.run(body, key)
    assert (job["status"], job["output"]) == ("dead_lettered", None)
    assert (job["error"]["code"], job["error"]["vendor_status"]) == ("vendor_failed", 500)
    assert (job["error"]["stage"], job["error"]["retryable"]) == ("vendor", True)
    attempts = entry(model).retry.attempts
    assert (job["attempts"], len(vendor.calls(prompt))) == (attempts, attempts)
    failed = acme.result(job)
    assert (failed.status_code, failed.json()["code"]) == (409, "job_failed")
    message = aws.message(stack.dlqs[model], job["id"])
    assert json.loads(message) == {"v": 1, "job_id": job["id"]}
    assert len(vendor.calls(prompt)) == attempts

    vendor.forget()
    again = acme.run(body, key)  # what trying again may cure is tried again under the same key
    assert (again["status"], again["attempts"]) == ("completed", 1)
    assert again["id"] != job["id"]
    assert len(vendor.calls(prompt)) == attempts + 1
    old = acme.http.get(f"/v1/jobs/{job['id']}").json()
    assert (old["status"], old["version"]) == (job["status"], job["version"])


def test_a_vendor_that_fails_once(acme: Partner, vendor: Vendor, words: Words) -> None:
    prompt, answer = words("prompt"), words("answer")
    vendor.fail("code-command", 500)
    vendor.say("code-command", answer)
    job = acme.run(ask("code-command", prompt), words("key"))
    assert (job["status"], job["attempts"], job["error"]) == ("completed", 2, None)
    assert job["output"] == {"text": answer}
    assert len(vendor.calls(prompt)) == 2


def test_a_vendor_that_refuses(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    model, prompt, key = "chat-mini", words("prompt"), words("key")
    vendor.fail(model, 400)
    body = ask(model, prompt)
    job = acme.run(body, key)
    assert (job["status"], job["output"], job["attempts"]) == ("failed", None, 1)
    assert (job["error"]["code"], job["error"]["vendor_status"]) == ("vendor_refused", 400)
    assert job["error"]["retryable"] is False
    copy = json.loads(aws.message(stack.dlqs[model], job["id"]))
    assert copy == {"v": 1, "job_id": job["id"], "reason": "vendor_refused"}
    assert acme.result(job).json()["code"] == "job_failed"
    again = acme.post(body, key)  # what trying again cannot cure is said again
    assert (again.status_code, again.json()["id"]) == (200, job["id"])
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json()["status"] == "failed"
    assert len(vendor.calls(prompt)) == 1


def test_an_answer_that_breaks_the_contract(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    model, prompt, key, invented = "risk-report", words("prompt"), words("key"), words("answer")
    invention = {
        "account_id": invented,
        "confidence_score": 97,
        "anomaly_detected": "yes",
        "risk_level": "EXTREME",
    }
    vendor.say(model, json.dumps(invention))
    body = ask(model, prompt)
    reply = acme.post(body, key)
    job = acme.ended(reply)
    assert (job["status"], job["output"], job["usage"]) == ("quarantined", None, None)
    assert (job["error"]["code"], job["error"]["stage"]) == ("schema", "gate")
    result = acme.result(job)
    assert (result.status_code, result.json()["code"]) == (409, "job_failed")
    copy = json.loads(aws.message(stack.quarantine_queue, job["id"]))
    assert copy == {"v": 1, "job_id": job["id"], "reason": "schema"}
    assert len(vendor.calls(prompt)) == 1

    second = acme.post(body, words("key"))
    served = acme.ended(second)
    assert (served["status"], served["source"]) == ("completed", "vendor")
    assert served["output"]["data"]["risk_level"] in {"LOW", "MEDIUM", "HIGH"}
    assert len(vendor.calls(prompt)) == 2
    replayed = acme.post(body, key)
    assert (replayed.json()["id"], replayed.json()["status"]) == (job["id"], "quarantined")
    seen = "".join(r.text for r in (reply, result, second, replayed)) + str(job) + str(served)
    assert invented not in seen


POISON = {
    "not JSON": "{{{ {mark}",
    "not ours": '{"job": "{mark}"}',
    "another version": '{"v": 2, "job_id": "job_{mark}"}',
    "a deep nest": "[" * 50_000 + "{mark}",
}


def test_messages_that_are_not_ours(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    model = "chat-mini"
    marks = [words("poison") for _ in POISON]
    for mark, body in zip(marks, POISON.values(), strict=True):
        poison = body.replace("{mark}", mark)
        aws.sqs.send_message(QueueUrl=stack.queues[model], MessageBody=poison)
    prompts = [words("prompt") for _ in range(5)]
    replies = [acme.post(ask(model, prompt), words("key"), wait=None) for prompt in prompts]
    for prompt, reply in zip(prompts, replies, strict=True):
        job = acme.ended(reply)
        assert (job["status"], job["attempts"]) == ("completed", 1)
        assert len(vendor.calls(prompt)) == 1
    for mark in marks:
        assert mark in aws.message(stack.dlqs[model], mark)
