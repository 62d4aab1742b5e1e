"""The pace of a deployed model: paused by the command, paused by its vendor, shared by partners."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from cli.demo.crowd import at_once
from cli.local import redis
from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.aws import Aws
from tests.system.conftest import Command
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

PAUSED, THROTTLED = "risk-report", "code-command"
PAUSE = 6
"""Seconds."""
BATCH = 10
STORM = 6
RETRY_AFTER = 2.0
Models = Callable[..., str]


@pytest.fixture
def models(tidegate: Command) -> Models:
    """Run `tidegate models` and return what it says."""
    return partial(tidegate, "models")


def test_a_paused_model_is_not_called_and_then_partners_take_turns(
    acme: Partner,
    globex: Partner,
    stack: StackInfo,
    models: Models,
    vendor: Vendor,
    words: Words,
) -> None:
    since = time.monotonic()  # what the vendor's record reads, too: one machine
    assert "paused by hand" in models("pause", PAUSED, "--for", str(PAUSE), "--why", "a test")
    redis.flush(stack.redis_url)  # what was lost there is read from the table again
    prompts = [words("prompt") for _ in range(BATCH)]
    batch = [acme.post(ask(PAUSED, prompt), words("key"), wait=None) for prompt in prompts]
    single, posted = words("prompt"), time.monotonic()
    alone = globex.post(ask(PAUSED, single), words("key"), wait=None)
    for partner, reply in [(acme, each) for each in batch] + [(globex, alone)]:
        job = partner.ended(reply)
        assert (job["status"], job["attempts"]) == ("completed", 1)
    [own] = vendor.calls(single)
    calls = [call for prompt in prompts for call in vendor.calls(prompt)]
    assert len(calls) == BATCH
    assert min(call["started_at"] for call in [*calls, own]) > since + PAUSE
    ahead = sum(posted < call["started_at"] < own["started_at"] for call in calls)
    assert ahead <= 2 * entry(PAUSED).in_flight
    assert "yes" in models("show", PAUSED)


def test_a_pause_without_an_end_is_ended_by_resume(
    acme: Partner, models: Models, vendor: Vendor, words: Words
) -> None:
    try:
        models("pause", PAUSED, "--why", "a test")
        shown = models("show", PAUSED)
    finally:
        resumed = models("resume", PAUSED)
    assert ("paused by hand" in shown, "a test" in shown) == (True, True)
    assert "paused" not in resumed
    prompt = words("prompt")
    assert acme.run(ask(PAUSED, prompt), words("key"))["status"] == "completed"
    assert len(vendor.calls(prompt)) == 1


def test_low_priority_comes_by_its_own_queue(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    prompt = words("prompt")
    vendor.delay(PAUSED, 2)
    reply = acme.post(ask(PAUSED, prompt) | {"priority": "low"}, words("key"), wait=None)
    queue = f"{stack.queues[PAUSED]}-low"
    until(lambda: aws.in_hand(queue), patience=20, awaited="low job in a worker's hand")
    assert acme.ended(reply)["status"] == "completed"
    assert len(vendor.calls(prompt)) == 1


def test_a_refusal_pauses_the_model_for_all_and_one_call_tries_alone(
    acme: Partner, vendor: Vendor, words: Words
) -> None:
    vendor.fail(THROTTLED, 429, times=2, retry_after=RETRY_AFTER)
    prompts, keys = [words("prompt") for _ in range(STORM)], [words("key") for _ in range(STORM)]
    replies = at_once(STORM, lambda n: acme.post(ask(THROTTLED, prompts[n]), keys[n], wait=None))
    assert {acme.ended(reply)["status"] for reply in replies} == {"completed"}
    calls = sorted(
        (call for prompt in prompts for call in vendor.calls(prompt)),
        key=lambda call: call["started_at"],
    )
    assert len(calls) == STORM + 2
    refused = [call for call in calls if call["status"] == 429]
    places = entry(THROTTLED).in_flight
    soon = [c for c in calls if c["started_at"] < refused[0]["ended_at"] + RETRY_AFTER]
    assert len(soon) <= places
    probe = next(c for c in calls if c["started_at"] > refused[-1]["ended_at"])
    assert [c for c in calls if probe["started_at"] < c["started_at"] < probe["ended_at"]] == []
