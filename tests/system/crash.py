"""Killing one worker of the deployed stack, and nothing else, while the vendor works for it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from redis import Redis

from cli.local.stack import StackInfo
from tests.patience import until
from tests.system import processes
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

MODEL = "chat-claude"
"""Whose worker is killed; no other test scripts its vendor so that a call fails or waits."""


@dataclass(frozen=True)
class Crash:
    """A worker killed amid its call."""

    prompt: str
    key: str
    location: str
    """Of the job it had."""
    at: float
    """Seconds since the epoch."""
    places: int
    """Calls in flight that the model counts right after."""


def kill_a_worker(stack: StackInfo, partner: Partner, vendor: Vendor, words: Words) -> Crash:
    """Return what was lost with the worker that was killed."""
    prompt, key = words("prompt"), words("key")
    vendor.delay(MODEL, 3)
    reply = partner.post(ask(MODEL, prompt), key, wait=None)
    # The delay is taken from the script when the vendor has the whole request.
    until(lambda: vendor.scripted == 0, patience=30, awaited="call to the vendor")
    workers = _calling(stack)
    assert len(workers) == 1, f"workers amid a call: {workers}"
    os.kill(workers[0], signal.SIGKILL)
    at, places = time.time(), in_flight(stack)
    return Crash(prompt, key, reply.headers["Location"], at, places)


def in_flight(stack: StackInfo) -> int:
    """Return how many calls of the model hold a place."""
    with Redis.from_url(stack.redis_url) as client:
        return int(client.zcard(f"tg:{{{MODEL}}}:calls"))


def _calling(stack: StackInfo) -> list[int]:
    """Return the model's workers with a connection to the vendor."""
    vendor_port = int(stack.vendor_url.rpartition(":")[2])
    return [
        pid
        for pid in processes.of_groups([stack.processes["emulator"]])
        if processes.variable(pid, "MODEL") == MODEL
        and any(
            socket.state == processes.ESTABLISHED and processes.port(socket.remote) == vendor_port
            for socket in processes.sockets([pid])
        )
    ]
