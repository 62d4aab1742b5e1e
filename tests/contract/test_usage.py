"""What a call is charged where its vendor says nothing of tokens, or nonsense: over real HTTP."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.contract import books
from tests.contract.jobs import loaded
from tests.contract.test_accept import BODY, finished
from tests.pictures import picture
from tests.pipeline import FUNDS, Pipeline
from tests.unit.vendor_server import teller
from tests.unit.vendor_wire import anthropic, cohere, openai
from tidegate.clock import SystemClock
from tidegate.vendors.registry import build

TEXT = "Forty-two, as everybody knows."
ESTIMATE = len(TEXT) // 2
CODE = {"instruction": "Tidy up.", "code": "x=1", "language": "python"}
ASKED: dict[str, dict[str, Any]] = {
    "chat-mini": BODY,
    "chat-claude": {**BODY, "model": "chat-claude"},
    "code-command": {"model": "code-command", "input": CODE},
}
ANSWERS: dict[str, dict[str, Any]] = {
    "chat-mini": openai(TEXT),
    "chat-claude": anthropic({"type": "text", "text": TEXT}),
    "code-command": cohere({"type": "text", "text": TEXT}),
}
NAMES = {
    "chat-mini": ("prompt_tokens", "completion_tokens"),
    "chat-claude": ("input_tokens", "output_tokens"),
    "code-command": ("input_tokens", "output_tokens"),
}


@contextmanager
def answering(pipeline: Pipeline, model: str, body: dict[str, Any]) -> Iterator[None]:
    """Let the model's vendor answer this body, from a port of its own."""
    with teller() as vendor:
        vendor.says(200, body)
        entry = pipeline.models.models[model]
        pipeline.vendor = build(entry, vendor.url, lambda: "sk-1", SystemClock())  # type: ignore[assignment]
        yield


def counts(model: str, given: Any, received: Any) -> dict[str, Any]:
    """Return the model's answer with these counts of tokens."""
    usage = dict(zip(NAMES[model], (given, received), strict=True))
    return {**ANSWERS[model], "usage": {"billed_units": usage} if "code" in model else usage}


def done(pipeline: Pipeline, model: str, body: dict[str, Any]) -> dict[str, Any]:
    with answering(pipeline, model, body):
        job: dict[str, Any] = pipeline.get(f"/v1/jobs/{finished(pipeline, ASKED[model])}").json
    assert job["status"] == "completed"
    assert 0 < job["price"]["charged_micro_credits"] <= job["price"]["reserved_micro_credits"]
    assert (
        books.check(pipeline)["acme"]["available"] == FUNDS - job["price"]["charged_micro_credits"]
    )
    assert loaded(pipeline, job["id"]).usage.estimated is job["usage_estimated"]
    return job


@pytest.mark.parametrize("model", ASKED)
def test_an_answer_without_counts_is_charged_by_estimate_and_marked(
    pipeline: Pipeline, model: str
) -> None:
    job = done(pipeline, model, {k: v for k, v in ANSWERS[model].items() if k != "usage"})
    assert job["usage_estimated"] is True
    assert job["usage"]["output_tokens"] == ESTIMATE
    assert job["usage"]["input_tokens"] > 16


@pytest.mark.parametrize("model", ASKED)
@pytest.mark.parametrize("count", ["512", 0])
def test_each_count_that_cannot_be_read_is_estimated_alone(
    pipeline: Pipeline, model: str, count: Any
) -> None:
    job = done(pipeline, model, counts(model, 20, count))
    assert job["usage"] == {"input_tokens": 20, "output_tokens": ESTIMATE}
    assert job["usage_estimated"] is True


def test_a_count_of_the_input_that_was_not_said_is_what_was_reserved(
    pipeline: Pipeline,
) -> None:
    job = done(pipeline, "chat-mini", counts("chat-mini", None, 9))
    assert job["usage"]["input_tokens"] + 1024 == loaded(pipeline, job["id"]).tokens
    assert job["usage"]["output_tokens"] == 9
    assert job["usage_estimated"] is True


@pytest.mark.parametrize("model", ASKED)
def test_a_count_that_was_said_is_the_vendors(pipeline: Pipeline, model: str) -> None:
    job = done(pipeline, model, counts(model, 20, 512.0))
    assert job["usage"] == {"input_tokens": 20, "output_tokens": 512}
    assert job["usage_estimated"] is False


def test_images_without_counts_cost_their_price_and_are_marked(pipeline: Pipeline) -> None:
    encoded = base64.b64encode(picture().content).decode()
    asked = {"model": "image-studio", "input": {"prompt": "a cat"}, "params": {"seed": 1}}
    with answering(pipeline, "image-studio", {"created": 1, "data": [{"b64_json": encoded}]}):
        job = pipeline.get(f"/v1/jobs/{finished(pipeline, asked)}").json
    assert job["price"]["charged_micro_credits"] == 40_000
    assert job["usage_estimated"] is True
    assert min(job["usage"].values()) > 0


def test_an_absurd_count_delays_nobody(pipeline: Pipeline) -> None:
    job = done(pipeline, "chat-mini", counts("chat-mini", 10**12, 10**12))
    assert job["usage_estimated"] is True
    assert job["usage"]["output_tokens"] == 1024  # its limit
    assert job["usage"]["input_tokens"] < 1200

    other = {**BODY, "params": {"seed": 5}}
    with answering(pipeline, "chat-mini", ANSWERS["chat-mini"]):
        job_id = pipeline.post(other, "other", partner="globex").json["id"]
        pipeline.deliver("chat-mini")
    assert pipeline.get(f"/v1/jobs/{job_id}", partner="globex").json["status"] == "completed"


def test_a_hit_has_no_usage_of_its_own(pipeline: Pipeline) -> None:
    done(pipeline, "chat-mini", counts("chat-mini", None, None))
    hit = pipeline.post(BODY, "another").json
    assert (hit["source"], hit["usage"], hit["usage_estimated"]) == ("cache", None, False)
