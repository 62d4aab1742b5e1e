"""The images route: looks synchronous, is a job, and takes its price once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.patience import until
from tests.system.partner import Partner, Words
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

MODEL = "image-studio"
PRICE = entry(MODEL).price.per_image
Newcomer = Callable[[int], Partner]


def test_repeats_cost_nothing(newcomer: Newcomer, vendor: Vendor, words: Words) -> None:
    partner, key, prompt = newcomer(10 * PRICE), words("key"), words("prompt")
    body = {"model": MODEL, "prompt": prompt}
    first = partner.images(body, key)
    assert first.status_code == 200, first.text
    made = first.json()
    assert made["asset_url"] == made["data"][0]["url"]
    assert made["micro_credits_deducted"] == PRICE
    assert httpx.get(made["asset_url"], trust_env=False).content
    paid = {"available": 9 * PRICE, "reserved": 0, "captured": PRICE}
    assert partner.usage() == paid

    repeated = partner.images(body, key)
    assert (repeated.status_code, repeated.headers["X-Cache-Lookup"]) == (200, "HIT-IDEMPOTENT")
    assert repeated.headers["Idempotent-Replayed"] == "true"
    assert repeated.json()["job_id"] == made["job_id"]
    assert repeated.json()["micro_credits_deducted"] == PRICE

    altered = partner.images(body | {"aspect_ratio": "3:2"}, key)
    assert (altered.status_code, altered.json()["code"]) == (422, "idempotency_key_reused")
    assert "altered payload parameters" in altered.text
    unnamed = partner.images(body, None)
    assert unnamed.status_code == 400, unnamed.text
    assert partner.usage() == paid
    assert len(vendor.calls(prompt)) == 1


def test_a_repeat_while_it_runs_is_told_where(
    newcomer: Newcomer, vendor: Vendor, words: Words
) -> None:
    partner, key, prompt = newcomer(PRICE), words("key"), words("prompt")
    body = {"model": MODEL, "prompt": prompt}
    vendor.delay(MODEL, 3)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(partner.images, body, key)
        until(lambda: vendor.scripted == 0, patience=30, awaited="call to the vendor")
        repeated = partner.images(body, key)
        assert partner.usage() == {"available": 0, "reserved": PRICE, "captured": 0}
    assert (repeated.status_code, repeated.json()["code"]) == (409, "request_in_progress")
    assert 1 <= int(repeated.headers["Retry-After"]) <= 60
    job = partner.ended_at(repeated.headers["Location"])
    assert (first.result().status_code, first.result().json()["job_id"]) == (200, job["id"])
    assert job["status"] == "completed"
    assert partner.usage() == {"available": 0, "reserved": 0, "captured": PRICE}
    assert len(vendor.calls(prompt)) == 1
