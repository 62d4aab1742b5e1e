"""Bad input (A2, A3): always a 4xx with a stable code; nothing is stored, no key is used."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.contract.test_accept import BODY
from tests.pipeline import Answer, Pipeline

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps(BODY)


def body(**fields: Any) -> str:
    return json.dumps({**BODY, **fields})


BODIES: dict[str, tuple[str, int, str]] = {
    "empty": ("", 400, "invalid_json"),
    "blank": ("  \n", 400, "invalid_json"),
    "null": ("null", 400, "invalid_json"),
    "a list": ("[]", 400, "invalid_json"),
    "a string": ('"x"', 400, "invalid_json"),
    "truncated": (GOOD[:-2], 400, "invalid_json"),
    "two values": (GOOD + GOOD, 400, "invalid_json"),
    "100 000 brackets": ("[" * 100_000, 400, "invalid_json"),
    "100 000 objects": ('{"a":' * 40_000, 400, "invalid_json"),
    "a duplicate member": (GOOD[:-1] + ', "model": "chat-mini"}', 400, "invalid_json"),
    "NaN": (body()[:-1] + ', "params": {"temperature": NaN}}', 400, "invalid_json"),
    "Infinity": (body()[:-1] + ', "params": {"temperature": -Infinity}}', 400, "invalid_json"),
    "1e999": (body()[:-1] + ', "params": {"temperature": 1e999}}', 400, "invalid_json"),
    "a 400-digit integer": (
        body()[:-1] + ', "params": {"seed": ' + "9" * 400 + "}}",
        400,
        "invalid_json",
    ),
    "an integer over 2^53": (
        body()[:-1] + ', "params": {"seed": 9007199254740993}}',
        400,
        "invalid_json",
    ),
    "a lone surrogate": (
        '{"model": "chat-mini", "input": {"messages": [{"role": "user", "content": "\\ud83d"}]}}',
        400,
        "invalid_json",
    ),
    "a raw surrogate": (
        '{"model": "chat-mini", "input": {"messages": [{"role": "user", "content": "\ud83d"}]}}',
        400,
        "invalid_json",
    ),
    "1 MB too large": (body(metadata={"a": "x" * (1024 * 1024)}), 413, "payload_too_large"),
    "an input over the entry's limit": (
        body(input={"messages": [{"role": "user", "content": "x" * 210_000}]}),
        413,
        "payload_too_large",
    ),
    "an unknown model": (body(model="gpt-9"), 422, "unknown_model"),
    "a model of another type": (body(model=5), 422, "validation_failed"),
    "no model": (json.dumps({"input": BODY["input"]}), 422, "validation_failed"),
    "no input": (json.dumps({"model": "chat-mini"}), 422, "validation_failed"),
    "an input of another task": (body(input={"prompt": "a cat"}), 422, "validation_failed"),
    "no messages": (body(input={"messages": []}), 422, "validation_failed"),
    "an unknown role": (
        body(input={"messages": [{"role": "root", "content": "x"}]}),
        422,
        "validation_failed",
    ),
    "an empty message": (
        body(input={"messages": [{"role": "user", "content": ""}]}),
        422,
        "validation_failed",
    ),
    "an unknown parameter": (body(params={"top_k": 5}), 422, "validation_failed"),
    "a parameter of another type": (body(params={"max_tokens": "9"}), 422, "validation_failed"),
    "true for a number": (body(params={"temperature": True}), 422, "validation_failed"),
    "a fraction for an integer": (body(params={"max_tokens": 9.5}), 422, "validation_failed"),
    "a parameter out of range": (body(params={"temperature": 3}), 422, "validation_failed"),
    "null for a parameter": (body(params={"seed": None}), 422, "validation_failed"),
    "an unknown field": (body(stream=True), 422, "validation_failed"),
    "partner": (body(partner="umbrella"), 422, "validation_failed"),
    "api_base": (body(api_base="http://169.254.169.254"), 422, "validation_failed"),
    "api_key": (body(api_key="sk-x"), 422, "validation_failed"),
    "an unknown priority": (body(priority="urgent"), 422, "validation_failed"),
    "a deadline of no time": (body(deadline_seconds=0), 422, "validation_failed"),
    "metadata that is no text": (body(metadata={"a": 1}), 422, "validation_failed"),
    "17 notes": (body(metadata={str(n): "" for n in range(17)}), 422, "validation_failed"),
}


def assert_refused(pipeline: Pipeline, answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert answer.json["error"]["code"] == code
    assert answer.json["detail"]
    assert pipeline.items() == []
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []


@pytest.fixture
def door(without_redis: Pipeline) -> Pipeline:
    return without_redis


@pytest.mark.parametrize("name", BODIES)
def test_a_bad_body(door: Pipeline, name: str) -> None:
    raw, status, code = BODIES[name]
    headers = {**JSON, "Idempotency-Key": "k"}
    answer = door.send("POST", "/v1/jobs", raw=raw, headers=dict(headers))
    assert_refused(door, answer, status, code)
    good = door.send("POST", "/v1/jobs", raw=GOOD, headers=dict(headers))
    assert good.status == 202  # the key was not consumed


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (base64.b64encode(b'{"model": "\xff\xfe"}').decode(), "invalid_json"),
        ("%%%", "invalid_json"),
        (base64.b64encode(b"\xef\xbb\xbf{}").decode(), "invalid_json"),
    ],
)
def test_a_bad_base64_body(door: Pipeline, raw: str, code: str) -> None:
    answer = door.send(
        "POST", "/v1/jobs", raw=raw, headers={**JSON, "Idempotency-Key": "k"}, base64=True
    )
    assert_refused(door, answer, 400, code)


@pytest.mark.parametrize(
    ("key", "code"),
    [
        (None, "idempotency_key_missing"),
        ("", "idempotency_key_invalid"),
        ("k" * 256, "idempotency_key_invalid"),
        ("schlüssel", "idempotency_key_invalid"),
        ("with space", "idempotency_key_invalid"),
        ("tab\t", "idempotency_key_invalid"),
        (["one", "two"], "idempotency_key_invalid"),
    ],
)
def test_a_bad_idempotency_key(door: Pipeline, key: str | list[str] | None, code: str) -> None:
    headers: dict[str, str | list[str]] = dict(JSON)
    if key is not None:
        headers["Idempotency-Key"] = key
    answer = door.send("POST", "/v1/jobs", raw=GOOD, headers=headers)
    assert_refused(door, answer, 400, code)


def test_255_characters_are_a_key_and_quotes_are_not_part_of_it(door: Pipeline) -> None:
    assert door.post(BODY, "k" * 255).status == 202
    first = door.post(BODY, "plain").json["id"]
    quoted = door.post(BODY, '"plain"')
    assert (quoted.json["id"], quoted.headers["Idempotent-Replayed"]) == (first, "true")


@pytest.mark.parametrize("media", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_another_media_type(door: Pipeline, media: str | None) -> None:
    headers: dict[str, str | list[str]] = {"Idempotency-Key": "k"}
    if media:
        headers["Content-Type"] = media
    answer = door.send("POST", "/v1/jobs", raw=GOOD, headers=headers)
    assert_refused(door, answer, 415, "unsupported_media_type")


def test_pointers_say_where(door: Pipeline) -> None:
    raw = body(params={"top_k": 5, "temperature": "hot"}, input=BODY["input"])
    headers: dict[str, str | list[str]] = {**JSON, "Idempotency-Key": "k"}
    errors = door.send("POST", "/v1/jobs", raw=raw, headers=headers).json["errors"]
    assert {error["pointer"] for error in errors} == {"/params/top_k", "/params/temperature"}


def test_a_request_that_came_past_the_authorizer_is_401(door: Pipeline) -> None:
    answer = door.send(
        "POST", "/v1/jobs", raw=GOOD, headers={**JSON, "Idempotency-Key": "k"}, partner=None
    )
    assert_refused(door, answer, 401, "unauthenticated")


@pytest.mark.parametrize("path", ["/v1/jobs/job_nobody", "/v1/jobs/x/result", "/v1/nothing"])
def test_what_is_not_there_is_404(door: Pipeline, path: str) -> None:
    assert_refused(door, door.get(path), 404, "not_found")


@pytest.mark.parametrize("value", ["wait=", "wait=abc", "wait=-5", "wait=9999999", "respond"])
def test_a_malformed_preference_is_ignored(door: Pipeline, value: str) -> None:
    answer = door.post(BODY, Prefer=value)
    assert answer.status == 202
    assert "Preference-Applied" not in answer.headers
