"""What deployed functions write at each level a function's log can be set to: nothing private.

Every shipped handler runs in Lambda's own runtime, over emulated AWS, a real Redis and a vendor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cli.local.emulator import CREDENTIALS, REGION, start_emulator
from tests.contract.lambda_cloud import KEY, MODEL, PLANTED, Cloud, vendor
from tests.lambda_runtime import ROOT, Function, Said, function

LEVELS = ("TRACE", "INFO", "WARN", "ERROR", "FATAL")
SERVING = ("api", "worker")
ALL = (*SERVING, "authorizer", "sweeper", "replay")
QUIET: set[str] = set()
WARNINGS = {"door_failed", "message_failed", "vendor_account_refused"}
EVENTS = {"request", "attempt_failed", "answer_quarantined", "job_ended"} | WARNINGS
OURS = {"WARN": WARNINGS, "ERROR": QUIET, "FATAL": QUIET}
"""What must have been written, else to find nothing would prove nothing; at others all `EVENTS`."""
DAMAGED = {"errorType": "HandlerFailed", "errorMessage": "ValueError"}
"""What is told of "'PROMPT-nobody-may-read' is not a valid Status"."""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    emulator, url = start_emulator(tmp_path_factory.mktemp("emulator"))
    variables = {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": REGION, **CREDENTIALS}
    with emulator, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield url


@pytest.fixture(scope="module")
def cloud(endpoint: str, redis_single: str) -> Iterator[Cloud]:
    with vendor() as url:
        made = Cloud(redis_single, url)
        yield made
        made.close()


def request(name: str, body: str | None = None, **changed: Any) -> dict[str, Any]:
    """Return an event of API Gateway with the partner's key."""
    event: dict[str, Any] = json.loads((ROOT / "events" / f"{name}.json").read_text())
    key, authorization = PLANTED["idempotency key"] + str(hash(body)), f"Bearer {KEY.reveal()}"
    for header, value in {"Idempotency-Key": key, "Authorization": authorization}.items():
        event["headers"][header] = value
        event["multiValueHeaders"][header] = [value]
    return event | {"body": body, "isBase64Encoded": False} | changed


def post(prompt: str = "", **more: Any) -> dict[str, Any]:
    content = f"{PLANTED['prompt']} {prompt}"
    body = {
        "model": MODEL,
        "input": {"messages": [{"role": "user", "content": content}]},
        "metadata": {"note": PLANTED["metadata"]},
    }
    return request("api", json.dumps(body | more))


def status(said: Said) -> int:
    code: int = said.answer["statusCode"]
    return code


def told(said: Said) -> dict[str, Any]:
    """Return what an error tells but the traceback."""
    return {name: said.error[name] for name in DAMAGED}


def serve(run: dict[str, Function], cloud: Cloud) -> str:
    """Post and work on jobs that end in every way; return the id of one that is damaged after."""
    api, worker = run["api"], run["worker"]
    assert status(api(post())) == 202
    assert status(api(post("fail-500"))) == 202
    assert status(api(post(response_schema={"type": "object"}))) == 202
    assert status(api(request("api", "{" + PLANTED["prompt"]))) == 400
    assert status(api(post(priority=PLANTED["prompt"]))) == 422
    worked = cloud.messages()
    assert len(worked["Records"]) == 3
    assert len(worker(worked).answer["batchItemFailures"]) == 1  # the 500 is tried again
    refused = api(post("fail-401"))
    job_id: str = json.loads(refused.answer["body"])["id"]
    message = cloud.messages()
    assert not worker(message).error
    cloud.damage(job_id)
    shown = api(request("api", httpMethod="GET", path=f"/v1/jobs/{job_id}"))
    assert told(shown) == told(worker(message)) == DAMAGED
    return job_id


def operate(run: dict[str, Function], job_id: str) -> None:
    """Have the others look at what there is."""
    assert run["authorizer"](request("authorizer")).answer["principalId"] == "acme"
    unknown = run["authorizer"](request("authorizer", headers={}))
    assert unknown.error["errorMessage"] == "Unauthorized"  # word for word: API Gateway's 401
    damaged = run["authorizer"](request("authorizer", headers=PLANTED["prompt"]))
    assert told(damaged) == DAMAGED | {"errorMessage": "AttributeError"}
    asked = {"quarantine": "release", "job_ids": [job_id], "by": "me", "why": "a test"}
    assert told(run["replay"](asked)) == told(run["sweeper"]({})) == DAMAGED
    assert run["replay"]({"action": PLANTED["prompt"], "model": MODEL}).answer["error"]


def lose(run: dict[str, Function], cloud: Cloud) -> None:
    """Go on without Redis, and then without the jobs table."""
    api, worker = run["api"], run["worker"]
    cloud.shut_redis()
    assert status(api(post("without Redis"))) == 202
    message = cloud.messages()
    assert not worker(message).error
    with cloud.without_jobs():
        assert status(api(post("without jobs"))) == 503
        assert worker(message).answer["batchItemFailures"]


@pytest.mark.parametrize(
    ("level", "names"), [("DEBUG", ALL), *((level, SERVING) for level in LEVELS)]
)
def test_nothing_private_is_written_at_any_level(
    level: str, names: tuple[str, ...], cloud: Cloud, endpoint: str, tmp_path: Path
) -> None:
    cloud.begin()
    variables = cloud.variables(endpoint) | {"AWS_LAMBDA_LOG_LEVEL": level}
    with ExitStack() as started:
        run = {
            name: started.enter_context(
                function(
                    f"{name}.handler.handler",
                    tmp_path / f"{name}.log",
                    variables | {"POWERTOOLS_SERVICE_NAME": name},
                )
            )
            for name in names
        }
        job_id = serve(run, cloud)
        if "replay" in run:
            operate(run, job_id)
        lose(run, cloud)
    written = {name: each.written for name, each in run.items()}
    found = {
        (name, what): text.count(words)
        for name, text in written.items()
        for what, words in PLANTED.items()
        if words in text
    }
    assert found == {}
    lines = [json.loads(line) for text in written.values() for line in text.splitlines()]
    others = [line for line in lines if "logger" in line]  # as Lambda's runtime writes them
    assert not [line for line in others if line["level"] in ("DEBUG", "INFO")]
    said = {line["message"] for line in lines if "_aws" not in line and "service" in line}
    assert said >= OURS.get(level, EVENTS)
