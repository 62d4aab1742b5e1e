"""What tests of quarantined answers share: making them, deciding on them, the command over moto."""

from __future__ import annotations

import io
import json
import random
import time
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from replay.handler import handle
from tests.contract.jobs import REPORT, drain
from tests.contract.replaying import doors
from tests.fakes import LambdaContext, answer
from tests.pipeline import REGION, Pipeline
from tidegate.rules.quarantine import Record
from tidegate.telemetry import Telemetry

CHAT = "chat-mini"
GOOD = {"model": CHAT, "input": {"messages": [{"role": "user", "content": "."}]}}
WRONG = {**REPORT, "confidence_score": 1.5}
"""Breaks the contract of risk-report."""
STRANGER = {**REPORT, "account_id": 9999}
"""Names an account that there is not."""
LONG = random.Random(6).randbytes(510_000).hex()  # noqa: S311
"""More than is kept of an answer; and what is kept is more than an item holds."""


def failed(
    pipeline: Pipeline,
    text: Any = None,
    *,
    model: str = "risk-report",
    partner: str = "acme",
    finish: str = "complete",
    request: dict[str, Any] | None = None,
) -> str:
    """Have an answer fail the gate, and return its job's id; `text` is JSON or the text itself."""
    given = text if isinstance(text, str) else json.dumps(WRONG if text is None else text)
    pipeline.vendor.script = [answer(given, finish=finish)]
    name = f"work-{len(pipeline.vendor.calls)}"
    chat = {"messages": [{"role": "user", "content": name}]}
    asked: dict[str, Any] = {"text": name} if model == "risk-report" else chat
    job_id = posted(pipeline, {"model": model, "input": asked, **(request or {})}, name, partner)
    assert pipeline.get(f"/v1/jobs/{job_id}", partner).json["status"] == "quarantined"
    return job_id


def posted(pipeline: Pipeline, body: dict[str, Any], key: str, partner: str = "acme") -> str:
    """Post a job, let workers do all there is, and return its id."""
    accepted = pipeline.post(body, key, partner)
    assert accepted.status == 202, accepted.text
    drain(pipeline, body["model"])
    return str(accepted.json["id"])


def asked_of(pipeline: Pipeline, event: Any, left: float = 100.0) -> dict[str, Any]:
    """Return the replay function's answer to an event, `left` seconds before its end."""
    context: Any = LambdaContext(left)
    return handle(event, context, doors(pipeline), pipeline.models)


def decision(action: str, *job_ids: str, by: str = "jane") -> dict[str, Any]:
    """Return the event of a decision."""
    return {"quarantine": action, "job_ids": list(job_ids), "by": by, "why": "looked at"}


def decided(
    pipeline: Pipeline, action: str, *job_ids: str, by: str = "jane", left: float = 100.0
) -> dict[str, tuple[str, str | None]]:
    """Return, of each job, what became of its answer and why."""
    items = asked_of(pipeline, decision(action, *job_ids, by=by), left)["items"]
    return {item["job_id"]: (item["result"], item["reason"]) for item in items}


def record_of(pipeline: Pipeline, job_id: str) -> Record:
    """Return what is kept of a job's answer that failed."""
    record = doors(pipeline).quarantine.quarantine.record(job_id)
    assert record is not None
    return record


class ReplayFunction:
    """The deployed replay function, as boto3's Lambda client calls it."""

    def __init__(self) -> None:
        self.pipeline: Pipeline | None = None
        self.events: list[dict[str, Any]] = []

    def invoke(self, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803
        assert FunctionName == "tidegate-dev-replay"
        assert self.pipeline is not None
        self.events.append(json.loads(Payload))
        said = asked_of(self.pipeline, self.events[-1])
        return {"Payload": io.BytesIO(json.dumps(said).encode())}


def reached(pipeline: Pipeline, function: ReplayFunction, patch: pytest.MonkeyPatch) -> None:
    """Let the commands of env dev reach a deployment, at the time that it is."""
    Telemetry("replay", "local")  # a logger writes where its first maker did
    pipeline.clock.time = time.time()
    function.pipeline = pipeline
    there: Any = boto3.client

    def client(service: str, **options: Any) -> Any:
        if service == "lambda":
            return function
        found = there(service, region_name=options.get("region_name") or REGION)
        found.meta.events.register("provide-client-params", _of_dev, unique_id="of-dev")
        return found

    patch.setattr(boto3, "client", client)


def _of_dev(params: dict[str, Any], **_: Any) -> None:
    if "TableName" in params:
        params["TableName"] = params["TableName"].removeprefix("tidegate-dev-")
    if params.get("Bucket") == "tidegate-dev-assets-123456789012-us-east-1":
        params["Bucket"] = "assets"


def tidegate(*words: str) -> Result:
    """Run `tidegate quarantine`."""
    return CliRunner().invoke(app, ["quarantine", *words, "--env", "dev"])


def exported(*words: str) -> list[dict[str, Any]]:
    """Return what an export to standard output says."""
    result = tidegate("export", "-", *words)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def objects(pipeline: Pipeline) -> list[str]:
    """Return the keys of raw answers in S3."""
    found = pipeline.s3.list_objects_v2(Bucket="assets", Prefix="quarantine/").get("Contents", [])
    return [each["Key"] for each in found]
