"""Redis holds only what may be lost: without it no answer is paid for twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cli.local import redis
from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.aws import Aws
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system


def test_emptied_after_the_end(
    acme: Partner, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    prompt, key, answer = words("prompt"), words("key"), words("answer")
    vendor.say("chat-mini", answer)
    body = ask("chat-mini", prompt)
    job = acme.run(body, key)
    redis.flush(stack.redis_url)
    cached = acme.post(body, words("key"), wait=None)
    assert (cached.status_code, cached.json()["source"]) == (200, "cache")
    assert cached.json()["output"] == job["output"] == {"text": answer}
    redis.flush(stack.redis_url)
    replayed = acme.post(body, key, wait=None)
    assert replayed.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert replayed.json()["output"] == job["output"]
    assert acme.result(job).json() == job["output"]
    assert len(vendor.calls(prompt)) == 1


def test_emptied_amid_the_work(
    acme: Partner, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    prompt, key = words("prompt"), words("key")
    vendor.delay("chat-mini", 3)
    body = ask("chat-mini", prompt)
    first = acme.post(body, key, wait=None)
    redis.flush(stack.redis_url)
    second = acme.post(body, words("key"), wait=None)
    assert first.json()["id"] == second.json()["id"]
    redis.flush(stack.redis_url)
    job = acme.ended(first)
    assert (job["status"], job["attempts"]) == ("completed", 1)
    assert len(vendor.calls(prompt)) == 1


@contextmanager
def silenced(stack: StackInfo) -> Iterator[None]:
    """Let Redis say nothing, with every connection to it open."""
    os.killpg(stack.processes["redis"], signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(stack.processes["redis"], signal.SIGCONT)


def test_silent_for_a_while(
    acme: Partner, aws: Aws, stack: StackInfo, vendor: Vendor, words: Words
) -> None:
    model, finished, prompt = "code-command", words("prompt"), words("prompt")
    key, body = words("key"), ask("code-command", finished)
    job = acme.run(body, key)
    with silenced(stack):
        cached = acme.post(body, words("key"), wait=None)
        assert (cached.status_code, cached.json()["source"]) == (200, "cache")
        assert cached.json()["output"] == job["output"]
        assert acme.post(body, key, wait=None).headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
        begun = acme.post(ask(model, prompt), words("key"), wait=None)
        joined = acme.post(ask(model, prompt), words("key"), wait=None)
        assert (begun.status_code, joined.json()["id"]) == (202, begun.json()["id"])
        # Without a pace nobody calls: the worker puts the job off and keeps it.
        until(lambda: aws.delayed(stack.queues[model]), patience=20, awaited="job put off")
        assert vendor.calls(prompt) == []
    ended = acme.ended(begun)
    assert (ended["status"], ended["attempts"]) == ("completed", 1)
    assert (len(vendor.calls(finished)), len(vendor.calls(prompt))) == (1, 1)
