"""Fifty at once: one call to the vendor, whether they come under one name or under fifty."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import httpx
import pytest

from tests.system.aws import Aws
from tests.system.partner import AT_ONCE, Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system

MODEL = "chat-mini"
COLD = 60
"""Requests for what nobody has asked for yet."""
Got = TypeVar("Got")


def at_once(act: Callable[[int], Got], count: int = AT_ONCE) -> list[Got]:
    """Return what `act(0)` … `act(count - 1)` return, all begun at the same moment."""
    gate = threading.Barrier(count)

    def one(index: int) -> Got:
        gate.wait(timeout=30)
        return act(index)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.fixture(scope="module")
def warm(acme: Partner) -> Partner:
    """Return a partner whose front door has its processes running.

    Starting them takes longer than the vendor does, and would turn a stampede into a queue.
    """
    for count in (AT_ONCE // 2, AT_ONCE, AT_ONCE):
        replies = at_once(lambda _: acme.http.get("/v1/models"), count)
        assert {reply.status_code for reply in replies} == {200}
    return acme


def test_under_one_key_they_are_one_job(
    warm: Partner, aws: Aws, vendor: Vendor, words: Words
) -> None:
    prompt, key = words("prompt"), words("key")
    jobs = aws.job_ids()
    vendor.delay(MODEL, 2)
    replies = at_once(lambda _: warm.post(ask(MODEL, prompt), key))
    ended = [ageless(warm.ended(reply)) for reply in replies]
    assert len({job["id"] for job in ended}) == 1
    assert all(job == ended[0] for job in ended)
    assert all(ageless(reply.json()) == ended[0] for reply in replies if reply.status_code == 200)
    assert (ended[0]["status"], ended[0]["attempts"]) == ("completed", 1)
    assert len(aws.job_ids() - jobs) == 1
    assert len(vendor.calls(prompt)) == 1
    new = [reply for reply in replies if "Idempotent-Replayed" not in reply.headers]
    assert len(new) == 1


def test_under_fifty_keys_they_are_one_job(
    warm: Partner,
    aws: Aws,
    vendor: Vendor,
    words: Words,
    measured: Callable[[str, float], None],
) -> None:
    prompt = words("prompt")
    keys = [words("key") for _ in range(AT_ONCE)]
    vendor.delay(MODEL, 3)
    replies = at_once(lambda index: warm.post(ask(MODEL, prompt), keys[index], wait=None))
    ended = [warm.ended(reply) for reply in replies]
    assert len(vendor.calls(prompt)) == 1
    assert {job["status"] for job in ended} == {"completed"}
    assert all(job["output"] == ended[0]["output"] for job in ended)
    [ran] = {job["id"]: job for job in ended if job["source"] == "vendor"}.values()
    joined = [job for job in ended if job["id"] == ran["id"]]
    late = [job for job in ended if job["id"] != ran["id"]]
    measured("of 50 posts under 50 keys, joined to one job", len(joined))
    # On a slow machine some come after the end: other jobs, answered from the first.
    assert all((job["source"], job["attempts"]) == ("cache", 0) for job in late)
    assert len(joined) > AT_ONCE // 2
    again = at_once(lambda index: warm.post(ask(MODEL, prompt), keys[index]))
    assert [repeated.json()["id"] for repeated in again] == [job["id"] for job in ended]
    assert all(accepted(repeated) for repeated in again)
    assert len(vendor.calls(prompt)) == 1


def test_at_a_cold_cache_and_a_prompt_vendor_one_call_answers_all(
    warm: Partner, vendor: Vendor, words: Words
) -> None:
    """Some make the job or join it, some come after its end, and some amid it."""
    prompt = words("prompt")
    keys = [words("key") for _ in range(COLD)]
    replies = at_once(lambda index: warm.post(ask(MODEL, prompt), keys[index]), COLD)
    assert {reply.status_code for reply in replies} == {200}
    jobs = [reply.json() for reply in replies]
    assert all(job["output"] == jobs[0]["output"] for job in jobs)
    assert len({job["id"] for job in jobs if job["source"] == "vendor"}) == 1
    assert len(vendor.calls(prompt)) == 1


def ageless(job: dict[str, Any]) -> dict[str, Any]:
    """Return a job without the one member that differs from second to second."""
    return job | {"cache": job["cache"] | {"age_seconds": None}}


def accepted(repeated: httpx.Response) -> bool:
    return (repeated.status_code, repeated.headers["X-Cache-Lookup"]) == (200, "HIT-IDEMPOTENT")
