"""The mock vendor: LLMock, which speaks OpenAI's, Anthropic's and Cohere's APIs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from cli.local.processes import LOOPBACK, Child, answering, call, environment, free_port, start


def start_vendor(
    folder: Path, latency_ms: int = 0, options: Sequence[str] = ()
) -> tuple[Child, str]:
    """Start LLMock, answering after `latency_ms`; return it and its URL.

    `options` are further ones of `llmock serve`, such as `--rpm 120`: a quota for each key.
    """
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    command = [sys.executable, "-c", "from llmock.cli import app; app()", "serve"]
    command += ["--host", LOOPBACK, "--port", str(port), "--latency-ms", str(latency_ms)]
    command += options
    child = start(
        "vendor",
        command,
        log=folder / "logs" / "vendor.log",
        env=environment(),
        ready=answering(port, "/_llmock/scenario"),
    )
    return child, url


def reset(url: str) -> None:
    """Forget the vendor's journal and the faults that still wait."""
    call("POST", int(url.rsplit(":", 1)[1]), "/_llmock/reset")
