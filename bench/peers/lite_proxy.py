"""LiteLLM's proxy with its Redis cache, as its documentation starts it."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from bench.peers.batch import Batch
from bench.peers.meters import cpu_seconds
from cli.demo.crowd import at_once, side_by_side
from cli.local.processes import LOOPBACK, answering, environment, free_port, start

MODEL = "chat"
VENDOR_MODEL = "gpt-4o"
"""Other than Tidegate's, by which their calls are told apart; one whose price LiteLLM knows."""
HIT = "x-litellm-cache-key"
"""A header of answers that came from the cache."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy with one worker."""

    group: int
    client: httpx.Client

    def ask(self, body: Mapping[str, Any]) -> httpx.Response:
        """Return the answer to a chat completion."""
        answer = self.client.post("/v1/chat/completions", json={**body, "model": MODEL})
        return answer.raise_for_status()

    def answered(self, bodies: list[dict[str, Any]]) -> Batch:
        """Ask one after the other, over one connection; hits are as expected."""
        begun, seconds, hits = cpu_seconds(self.group), [], 0
        for body in bodies:
            start_at = time.perf_counter()
            answer = self.ask(body)
            seconds.append(time.perf_counter() - start_at)
            hits += HIT in answer.headers
        return Batch(seconds, hits, cpu_seconds(self.group) - begun)

    def served(self, count: int) -> float:
        """Return the CPU seconds of one request that asks for next to nothing: its HTTP server's.

        It is the mean of `count`.
        """
        begun = cpu_seconds(self.group)
        for _ in range(count):
            self.client.get("/health/liveliness").raise_for_status()
        return (cpu_seconds(self.group) - begun) / count

    def fill(self, bodies: list[dict[str, Any]]) -> None:
        """Ask for all of them, some at a time."""
        side_by_side(self.ask, bodies, 8)

    def crowd(self, count: int, body: dict[str, Any]) -> None:
        """Ask for the same `count` times at once."""
        at_once(count, lambda _n: self.ask(body))


@contextmanager
def proxy(commands: Path, folder: Path, redis_url: str, vendor_url: str) -> Iterator[Proxy]:
    """Run a proxy, its configuration and log in `folder`, with an answer cache at `redis_url`."""
    folder.mkdir(parents=True, exist_ok=True)
    key, port = f"sk-{secrets.token_hex(32)}", free_port()
    config = folder / "litellm.yaml"
    config.touch(mode=0o600)
    config.write_text(json.dumps(_config(key, redis_url, vendor_url), indent=2))  # YAML as well
    command = [str(commands / "litellm"), "--config", str(config), "--host", LOOPBACK]
    child = start(
        "litellm",
        [*command, "--port", str(port), "--num_workers", "1"],
        log=folder / "logs" / "litellm.log",
        # Without these it asks the network for prices, and tells its makers that it is used.
        env=environment(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_TELEMETRY="False"),
        ready=answering(port, "/health/liveliness"),
        patience=120,
    )
    with child, httpx.Client(
        base_url=f"http://{LOOPBACK}:{port}",
        headers={"Authorization": f"Bearer {key}"},
        limits=httpx.Limits(max_connections=None),
        timeout=60,
        trust_env=False,
    ) as client:  # fmt: skip
        yield Proxy(child.group, client)


def _config(key: str, redis_url: str, vendor_url: str) -> dict[str, Any]:
    redis = urlsplit(redis_url)
    model = {
        "model": f"openai/{VENDOR_MODEL}", "api_base": f"{vendor_url}/v1",
        "api_key": "key-of-litellm",
    }  # fmt: skip
    return {
        "model_list": [{"model_name": MODEL, "litellm_params": model}],
        "litellm_settings": {
            "cache": True,
            "cache_params": {"type": "redis", "host": redis.hostname, "port": redis.port},
        },
        "general_settings": {"master_key": key},
    }
