"""Repeats of a finished request: what is asked again is not paid for again."""

from __future__ import annotations

import pytest

from tests.system.aws import Aws
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system


def test_the_same_key_is_the_same_job(acme: Partner, vendor: Vendor, words: Words) -> None:
    key, body = words("key"), ask("chat-mini", words("prompt"))
    job = acme.run(body, key)
    again = acme.post(body, key)
    assert again.status_code == 200
    assert again.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Location"].endswith(job["id"])
    assert (again.json()["id"], again.json()["output"]) == (job["id"], job["output"])
    assert len(vendor.calls(key)) == 0
    assert len(vendor.calls(body["input"]["messages"][0]["content"])) == 1


def test_another_key_is_served_from_the_cache(acme: Partner, vendor: Vendor, words: Words) -> None:
    prompt = words("prompt")
    body = ask("chat-mini", prompt)
    job = acme.run(body, words("key"))
    again = acme.post(body, words("key"), wait=None)
    cached = again.json()
    assert (again.status_code, cached["done"], cached["source"]) == (200, True, "cache")
    assert cached["id"] != job["id"]
    assert cached["output"] == job["output"]
    assert cached["cache"]["status"] == "hit"
    assert isinstance(cached["cache"]["age_seconds"], int)
    assert again.headers["Cache-Status"].startswith("tidegate; hit")
    assert "X-Cache-Lookup" not in again.headers
    assert len(vendor.calls(prompt)) == 1


def test_another_partner_is_not_served_from_it(
    acme: Partner, globex: Partner, vendor: Vendor, words: Words
) -> None:
    prompt, key, theirs = words("prompt"), words("key"), words("answer")
    vendor.say("chat-mini", theirs)
    job = acme.run(ask("chat-mini", prompt), key)
    assert job["output"] == {"text": theirs}
    vendor.say("chat-mini", words("answer"))
    other = globex.run(ask("chat-mini", prompt), key)
    assert (other["status"], other["source"]) == ("completed", "vendor")
    assert other["id"] != job["id"]
    assert theirs not in str(other)
    assert len(vendor.calls(prompt)) == 2


@pytest.mark.parametrize("altered", ["prompt", "params", "model", "metadata"])
def test_an_altered_body_is_refused(
    altered: str, acme: Partner, aws: Aws, vendor: Vendor, words: Words
) -> None:
    prompt, key = words("prompt"), words("key")
    body = ask("chat-mini", prompt)
    job = acme.run(body, key)
    jobs = aws.job_ids()
    refused = acme.post(
        {
            "prompt": ask("chat-mini", f"{prompt} and more"),
            "params": ask("chat-mini", prompt, max_tokens=7),
            "model": ask("chat-claude", prompt),
            "metadata": body | {"metadata": {"note": "another"}},
        }[altered],
        key,
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert aws.job_ids() == jobs
    assert len(vendor.calls(prompt)) == 1
    assert acme.post(body, key).json()["id"] == job["id"]


def test_what_is_not_deterministic_is_made_anew(
    acme: Partner, vendor: Vendor, words: Words
) -> None:
    prompt = words("prompt")
    first = acme.run(ask("image-studio", prompt), words("key"))
    second = acme.run(ask("image-studio", prompt), words("key"))
    assert (first["source"], second["source"]) == ("vendor", "vendor")
    assert first["id"] != second["id"]
    assert len(vendor.calls(prompt)) == 2
    seeded = [acme.run(ask("image-studio", prompt, seed=7), words("key")) for _ in range(2)]
    assert [job["source"] for job in seeded] == ["vendor", "cache"]
    assert len(vendor.calls(prompt)) == 3
