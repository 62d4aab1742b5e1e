"""Every model of the catalogue answers over HTTP, from the key to the result."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from cli.local.stack import StackInfo
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system

TEXTS = ("chat-mini", "chat-claude", "code-command")


def at_its_location(reply: httpx.Response, partner: Partner) -> httpx.Response:
    """Return what a client gets that knows the `Location` and its key and nothing else."""
    with httpx.Client(trust_env=False, timeout=40) as client:
        return client.get(
            reply.headers["Location"], headers={"Authorization": f"Bearer {partner.key}"}
        )


@pytest.mark.parametrize("model", TEXTS)
def test_a_model_of_words(model: str, acme: Partner, vendor: Vendor, words: Words) -> None:
    prompt, answer = words("prompt"), words("answer")
    vendor.say(model, answer)
    reply = acme.post(ask(model, prompt), words("key"))
    job = acme.ended(reply)
    assert (job["status"], job["model"], job["source"], job["attempts"]) == (
        "completed",
        model,
        "vendor",
        1,
    )
    assert job["output"] == {"text": answer}
    result = acme.result(job)
    assert (result.status_code, result.json()) == (200, {"text": answer})
    found = at_its_location(reply, acme)
    assert (found.status_code, found.json()["output"]) == (200, {"text": answer})
    assert len(vendor.calls(prompt)) == 1


def test_a_model_of_images(acme: Partner, stack: StackInfo, vendor: Vendor, words: Words) -> None:
    prompt = words("prompt")
    reply = acme.post(ask("image-studio", prompt), words("key"))
    job = acme.ended(reply)
    assert job["status"] == "completed"
    [image] = job["output"]["images"]
    [shown] = acme.result(job).json()["images"]
    assert sorted(shown) == ["content_type", "height", "url", "width"]
    assert (shown["width"], shown["height"]) == (1024, 1024)
    address = urlsplit(image["url"])
    assert f"{address.scheme}://{address.netloc}" == stack.aws_endpoint
    assert "-assets-" in address.path
    assert {"X-Amz-Signature", "X-Amz-Expires"} <= parse_qs(address.query).keys()
    with httpx.Client(trust_env=False) as anybody:  # the URL alone is the permission
        picture = anybody.get(image["url"])
    assert (picture.status_code, picture.headers["content-type"]) == (200, image["content_type"])
    assert prompt in picture.text
    assert at_its_location(reply, acme).json()["id"] == job["id"]
    assert len(vendor.calls(prompt)) == 1


def test_a_model_of_data(acme: Partner, vendor: Vendor, words: Words) -> None:
    prompt = words("prompt")
    job = acme.run(ask("risk-report", prompt), words("key"))
    data = job["output"]["data"]
    assert set(data) == {"account_id", "confidence_score", "anomaly_detected", "risk_level"}
    assert type(data["account_id"]) is int
    assert type(data["anomaly_detected"]) is bool
    assert 0 <= data["confidence_score"] <= 1
    assert data["risk_level"] in {"LOW", "MEDIUM", "HIGH"}
    assert acme.result(job).json() == {"data": data}
    assert len(vendor.calls(prompt)) == 1


def test_without_a_preference_it_is_202_at_once(
    acme: Partner, vendor: Vendor, words: Words
) -> None:
    vendor.delay("chat-mini", 2)
    reply = acme.post(ask("chat-mini", words("prompt")), words("key"), wait=None)
    assert reply.status_code == 202
    assert reply.json()["done"] is False
    assert 1 <= int(reply.headers["Retry-After"]) <= 60
    assert reply.headers["Cache-Control"] == "private, no-store"
    early = acme.result(reply.json())
    assert (early.status_code, early.json()["code"]) == (409, "job_not_complete")
    job = acme.ended(reply)
    tag = acme.http.get(reply.headers["Location"]).headers["ETag"]
    again = acme.http.get(reply.headers["Location"], headers={"If-None-Match": tag})
    assert (job["status"], again.status_code, again.content) == ("completed", 304, b"")


def test_the_catalogue_is_listed(acme: Partner, stack: StackInfo) -> None:
    listed = {model["id"]: model["task"] for model in acme.http.get("/v1/models").json()["data"]}
    assert listed == {name: task for task, names in stack.models.items() for name in names}
