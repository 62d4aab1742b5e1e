"""Bad input over real HTTP: a 4xx with a stable code; nothing is stored, no key is used."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.system.aws import Aws
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system

MODEL = "chat-mini"


def bodies(prompt: str) -> dict[str, tuple[bytes, int, str]]:
    """Return bodies that are refused, each with its status and code."""
    good = ask(MODEL, prompt)
    text = json.dumps(good)

    def but(**fields: Any) -> bytes:
        return json.dumps(good | fields).encode()

    def end(member: str | bytes) -> bytes:
        more = member if isinstance(member, bytes) else member.encode()
        return text[:-1].encode() + b", " + more + b"}"

    return {
        "empty": (b"", 400, "invalid_json"),
        "cut off": (text[:-2].encode(), 400, "invalid_json"),
        "a list": (b"[" + text.encode() + b"]", 400, "invalid_json"),
        "100 000 brackets": (b"[" * 100_000, 400, "invalid_json"),
        "1 MB": (but(metadata={"note": "x" * (1024 * 1024)}), 413, "payload_too_large"),
        "not UTF-8": (end(b"\xff\xfe"), 400, "invalid_json"),
        "UTF-16": (text.encode("utf-16"), 400, "invalid_json"),
        "NaN": (end('"priority": NaN'), 400, "invalid_json"),
        "a huge integer": (end('"deadline_seconds": ' + "9" * 400), 400, "invalid_json"),
        "a member twice": (end('"model": "chat-claude"'), 400, "invalid_json"),
        "half a pair": (end('"metadata": {"note": "\\ud83d"}'), 400, "invalid_json"),
        "an unknown field": (but(**{f"api_key_{prompt}": "x"}), 422, "validation_failed"),
        "another type": (but(params={"max_tokens": prompt}), 422, "validation_failed"),
        "true for a number": (but(params={"temperature": True}), 422, "validation_failed"),
        "an unknown model": (but(model=f"gpt-{prompt}"), 422, "unknown_model"),
        "an input of another task": (but(input={"prompt": prompt}), 422, "validation_failed"),
    }


def headers(key: str) -> dict[str, dict[str, str]]:
    """Return headers that are refused with 400 or 415."""
    return {
        "no key": {},
        "an empty key": {"Idempotency-Key": ""},
        "a key with a space": {"Idempotency-Key": f"{key} {key}"},
        "a long key": {"Idempotency-Key": key.ljust(256, "k")},
        "another type": {"Idempotency-Key": key, "Content-Type": "text/plain"},
        "no type": {"Idempotency-Key": key, "Content-Type": ""},
    }


CODES = {
    "no key": (400, "idempotency_key_missing"),
    "an empty key": (400, "idempotency_key_invalid"),
    "a key with a space": (400, "idempotency_key_invalid"),
    "a long key": (400, "idempotency_key_invalid"),
    "another type": (415, "unsupported_media_type"),
    "no type": (415, "unsupported_media_type"),
}


def refuse(answer: httpx.Response, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Request-Id"]
    assert answer.headers["Cache-Control"] == "private, no-store"
    problem = answer.json()
    assert (problem["code"], problem["error"]["code"], problem["status"]) == (code, code, status)
    assert problem["detail"]


@pytest.mark.parametrize("which", bodies(""))
def test_a_bad_body(which: str, acme: Partner, aws: Aws, vendor: Vendor, words: Words) -> None:
    prompt, key = words("prompt"), words("key")
    content, status, code = bodies(prompt)[which]
    jobs, calls = aws.job_ids(), vendor.count(MODEL)
    answer = acme.http.post(
        "/v1/jobs",
        content=content,
        headers={"Content-Type": "application/json", "Idempotency-Key": key},
    )
    refuse(answer, status, code)
    if status == 422:
        assert answer.json()["errors"][0]["pointer"].startswith("/")
    assert aws.job_ids() == jobs
    job = acme.run(ask(MODEL, prompt), key)  # the key is still free
    assert (job["status"], len(vendor.calls(prompt))) == ("completed", 1)
    assert vendor.count(MODEL) == calls + 1


@pytest.mark.parametrize("which", CODES)
def test_a_bad_header(which: str, acme: Partner, aws: Aws, vendor: Vendor, words: Words) -> None:
    prompt = words("prompt")
    jobs = aws.job_ids()
    answer = acme.http.post(
        "/v1/jobs",
        content=json.dumps(ask(MODEL, prompt)),
        headers={"Content-Type": "application/json", **headers(words("key"))[which]},
    )
    refuse(answer, *CODES[which])
    assert aws.job_ids() == jobs
    assert vendor.calls(prompt) == []


def test_bytes_in_a_prompt_that_are_not_utf_8(acme: Partner, vendor: Vendor, words: Words) -> None:
    prompt = words("prompt")
    content = json.dumps(ask(MODEL, f"{prompt} caf!")).encode().replace(b"!", b"\xe9")
    answer = acme.http.post(
        "/v1/jobs",
        content=content,
        headers={
            "Content-Type": "application/json",
            "Idempotency-Key": words("key"),
            "Prefer": "wait=25",
        },
    )
    refuse(answer, 400, "invalid_json")
