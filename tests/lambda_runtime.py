"""Lambda as a function sees it: its Runtime API on a loopback port, and its own Python runtime.

docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any, cast
from uuid import uuid4

from cli.local.processes import LOOPBACK, Child, environment

ROOT = Path(__file__).resolve().parents[1]
PATHS = (ROOT / "functions", ROOT / "layers" / "tidegate" / "python")
PATIENCE = 60.0
"""Seconds for one invocation, a cold start included."""


@dataclass(frozen=True, slots=True)
class Said:
    """How an invocation ended: with an answer, or with the error that the function reported."""

    answer: Any = None
    error: Mapping[str, Any] = field(default_factory=dict)


class _RuntimeApi(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((LOOPBACK, 0), _Exchange)
        self.events: Queue[bytes | None] = Queue()
        self.ends: Queue[Said] = Queue()


class _Exchange(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Give the next event to a function that waits for it."""
        event = cast("_RuntimeApi", self.server).events.get()
        if event is None:  # the function has been stopped
            return
        self.send_response(200)
        self.send_header("Lambda-Runtime-Aws-Request-Id", str(uuid4()))
        self.send_header("Lambda-Runtime-Deadline-Ms", str(int((time.time() + 60) * 1000)))
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:x:0:function:f")
        self.send_header("Content-Type", "application/json")
        self._end(event)

    def do_POST(self) -> None:
        """Take an answer, or an error: of an invocation or of the start."""
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        end = Said(error=said) if self.path.endswith("/error") else Said(said)
        self.send_response(202)
        self._end(b"{}")
        cast("_RuntimeApi", self.server).ends.put(end)

    def _end(self, body: bytes) -> None:
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Function:
    """One execution environment of a function."""

    api: _RuntimeApi
    log: Path

    def __call__(self, event: object) -> Said:
        """Return how an invocation ends."""
        self.api.events.put(json.dumps(event).encode())
        return self.api.ends.get(timeout=PATIENCE)

    @property
    def written(self) -> str:
        """Return all it has written, to either stream."""
        return self.log.read_text(errors="replace")


@contextmanager
def function(handler: str, log: Path, variables: Mapping[str, str]) -> Iterator[Function]:
    """Run `handler` in Lambda's runtime, with these variables and no others of ours."""
    api = _RuntimeApi()
    thread = threading.Thread(target=api.serve_forever, args=(0.05,))
    thread.start()
    env = environment(
        PYTHONPATH=":".join(map(str, PATHS)),
        AWS_LAMBDA_RUNTIME_API=f"{LOOPBACK}:{api.server_port}",
        **variables,
    )
    command = [sys.executable, "-m", "awslambdaric", handler]
    try:
        with Child("function", command, log=log, env=env):
            yield Function(api, log)
    finally:
        api.events.put(None)
        api.shutdown()
        thread.join()
        api.server_close()
