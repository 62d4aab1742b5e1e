"""Credits on the deployed stack: never more taken than there is, given back where nothing came."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cli.demo.crowd import at_once
from tests.patience import until
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

MODEL = "image-studio"
PRICE = entry(MODEL).price.per_image
CROWD = 12
ENOUGH_FOR = 3
Newcomer = Callable[[int], Partner]


def test_a_crowd_with_funds_for_three(newcomer: Newcomer, vendor: Vendor, words: Words) -> None:
    partner = newcomer(ENOUGH_FOR * PRICE + PRICE - 1)
    prompts, keys = [words("prompt") for _ in range(CROWD)], [words("key") for _ in range(CROWD)]
    replies = at_once(CROWD, lambda n: partner.post(ask(MODEL, prompts[n]), keys[n], wait=None))
    taken = [reply for reply in replies if reply.status_code == 202]
    refused = [reply for reply in replies if reply.status_code != 202]
    assert len(taken) == ENOUGH_FOR
    codes = {(reply.status_code, reply.json()["code"]) for reply in refused}
    assert codes == {(402, "insufficient_credits")}
    assert partner.usage()["available"] == PRICE - 1
    ends = [partner.ended(reply) for reply in taken]
    assert [job["price"]["charged_micro_credits"] for job in ends] == [PRICE] * ENOUGH_FOR
    assert partner.usage() == {
        "available": PRICE - 1, "reserved": 0, "captured": ENOUGH_FOR * PRICE,
    }  # fmt: skip
    assert sum(len(vendor.calls(prompt)) for prompt in prompts) == ENOUGH_FOR


def test_what_is_cancelled_is_not_paid(newcomer: Newcomer, vendor: Vendor, words: Words) -> None:
    partner, prompt, key = newcomer(PRICE), words("prompt"), words("key")
    vendor.delay(MODEL, 3)
    reply = partner.post(ask(MODEL, prompt), key, wait=None)
    until(lambda: vendor.scripted == 0, patience=30, awaited="call to the vendor")
    assert partner.usage() == {"available": 0, "reserved": PRICE, "captured": 0}
    cancelled = partner.cancel(reply.json()["id"])
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert partner.cancel(reply.json()["id"]).json() == cancelled.json()
    unpaid = {"available": PRICE, "reserved": 0, "captured": 0}
    assert partner.usage() == unpaid
    # The vendor's answer comes all the same, and is nobody's.
    until(lambda: len(vendor.calls(prompt)) == 1, patience=30, awaited="the vendor's answer")
    job = partner.ended(reply)
    assert (job["status"], job["output"]) == ("cancelled", None)
    assert partner.usage() == unpaid
