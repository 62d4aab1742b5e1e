"""`POST /v1/images/generations`: 200 with the images, 409 while it runs, replayed for nothing."""

from __future__ import annotations

import base64
import threading
from typing import Any

import pytest

from tests.contract import books
from tests.contract.jobs import drain
from tests.contract.replaying import with_one_attempt
from tests.fakes import answer
from tests.pipeline import FUNDS, PUBLIC_URL, Answer, Pipeline
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.vendors.base import Image

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
BODY: dict[str, Any] = {"model": "image-studio", "prompt": "A lighthouse", "seed": 7}
MADE = answer(None, images=(Image(PIXEL, "image/png"),), input_tokens=0, output_tokens=0)


def generate(pipeline: Pipeline, body: Any = BODY, key: str | None = "img-1") -> Answer:
    headers: dict[str, str | list[str]] = {"Content-Type": "application/json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    return pipeline.send("POST", "/v1/images/generations", body=body, headers=headers)


@pytest.fixture
def worked(pipeline: Pipeline) -> Pipeline:
    """A pipeline whose worker is at work while the route waits: at each of its sleeps."""
    pipeline.vendor.otherwise = lambda _call: MADE
    sleep = pipeline.clock.sleep

    def working(seconds: float) -> None:
        sleep(seconds)
        if threading.current_thread() is threading.main_thread():
            pipeline.deliver("image-studio")

    pipeline.clock.sleep = working  # type: ignore[method-assign]
    return pipeline


def test_first_200_then_200_from_the_store_with_the_balance_unchanged(worked: Pipeline) -> None:
    first = generate(worked)
    assert first.status == 200
    made = first.json
    assert set(made) == {
        "created", "data", "asset_url", "credits_deducted", "micro_credits_deducted", "job_id",
    }  # fmt: skip
    assert made["data"] == [{"url": made["asset_url"]}]
    assert made["asset_url"].startswith("https://")
    assert (made["credits_deducted"], made["micro_credits_deducted"]) == (0.04, 40_000)
    assert first.headers["Location"] == f"{PUBLIC_URL}/v1/jobs/{made['job_id']}"
    balance = books.check(worked)["acme"]
    assert balance == {"available": FUNDS - 40_000, "reserved": 0, "captured": 40_000}

    repeat = generate(worked)
    assert (repeat.status, repeat.json["job_id"]) == (200, made["job_id"])
    assert repeat.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert repeat.headers["Idempotent-Replayed"] == "true"
    assert books.check(worked)["acme"] == balance
    assert len(worked.vendor.calls) == 1


def test_longer_than_it_holds_is_202_then_409_while_it_runs_then_200(pipeline: Pipeline) -> None:
    pipeline.vendor.otherwise = lambda _call: MADE
    begun = pipeline.clock.now()
    held = generate(pipeline)
    assert (held.status, held.json["status"]) == (202, "queued")
    assert 20 <= pipeline.clock.now() - begun <= 25

    running = generate(pipeline)
    assert (running.status, running.json["code"]) == (409, "request_in_progress")
    assert running.headers["Location"] == held.headers["Location"]
    assert 1 <= int(running.headers["Retry-After"]) <= 60
    drain(pipeline, "image-studio")
    assert generate(pipeline).headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert len(pipeline.vendor.calls) == 1


def test_an_altered_body_is_422_and_a_missing_key_400(worked: Pipeline) -> None:
    generate(worked)
    altered = generate(worked, {**BODY, "prompt": "A lighthouse at night"})
    assert (altered.status, altered.json["code"]) == (422, "idempotency_key_reused")
    missing = generate(worked, key=None)
    assert (missing.status, missing.json["code"]) == (400, "idempotency_key_missing")
    assert len(worked.vendor.calls) == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"prompt": 5}, "/prompt"),
        ({"prompt": ""}, "/prompt"),
        ({"n": 9}, "/n"),
        ({"aspect_ratio": "7:1"}, "/aspect_ratio"),
        ({"api_base": "http://x"}, "/api_base"),
        ({"model": "chat-mini"}, "/model"),
        ({"model": "none-such"}, "/model"),
        ({"negative_prompt": ["x"]}, "/negative_prompt"),
    ],
)
def test_what_is_wrong_is_named_where_it_stands(
    pipeline: Pipeline, change: dict[str, Any], pointer: str
) -> None:
    refused = generate(pipeline, {**BODY, **change})
    assert refused.status == 422
    assert refused.json["errors"][0]["pointer"] == pointer
    assert pipeline.items() == []
    assert books.check(pipeline)["acme"]["available"] == FUNDS


def test_the_same_request_under_both_routes_is_one_run(worked: Pipeline) -> None:
    job = {
        "model": "image-studio",
        "input": {"prompt": "A lighthouse"},
        "params": {"seed": 7},
    }
    first = worked.post(job, "native").json["id"]
    assert generate(worked).json["job_id"] == first
    assert len(worked.vendor.calls) == 1


@pytest.mark.parametrize(
    ("error", "retry"),
    [
        (VendorRefused("policy", vendor_status=400), "false"),
        (VendorFailed("500", vendor_status=500), "true"),
    ],
)
def test_an_end_without_an_image_is_502_and_costs_nothing(
    worked: Pipeline, error: Exception, retry: str
) -> None:
    with_one_attempt(worked, "image-studio")
    worked.vendor.script = [error]
    failed = generate(worked)
    assert (failed.status, failed.json["code"]) == (502, "generation_failed")
    assert failed.headers["x-should-retry"] == retry
    assert failed.headers["Location"]
    assert books.check(worked)["acme"]["available"] == FUNDS
