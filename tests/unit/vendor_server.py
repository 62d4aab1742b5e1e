"""Vendors for tests: a mock of their APIs on a port of its own, and sockets that misbehave."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tidegate.rules import catalogue
from tidegate.rules.policies import Timeouts

CATALOGUE = Path(__file__).parents[2] / "layers" / "tidegate" / "python" / "catalogue"


class SteppingClock:
    """A clock that moves by `step` seconds whenever it is looked at."""

    def __init__(self, step: float = 0.0) -> None:
        self.time = 1_700_000_000.0
        self.step = step

    def now(self) -> float:
        self.time += self.step
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def entry(name: str, **changes: object) -> catalogue.Entry:
    """Return an entry of the shipped catalogue, as on a laptop."""
    models = catalogue.load(CATALOGUE, "local").models
    return models[name].model_copy(update=changes)


def timeouts(**seconds: float) -> Timeouts:
    return Timeouts.model_validate({"connect": 1, "read": 4, "total": 5, **seconds})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def llmock() -> Iterator[str]:
    """Run LLMock and give its URL; it ends with its whole process group."""
    port = free_port()
    command = [str(Path(sys.executable).with_name("llmock")), "serve"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url, process)
        yield url
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=10)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        assert process.poll() is None, "LLMock ended at its start"
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/v1/models", trust_env=False).status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError("LLMock does not answer")


def _read_request(connection: socket.socket) -> None:
    """Read a whole request; closing on unread bytes would reset the connection."""
    head, body = b"", b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65_536)
    head, _, body = head.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65_536)


@contextlib.contextmanager
def raw_server(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[int]]]:
    """Serve sockets with `answer`; give the URL and a list that grows by each connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[int] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                seen.append(1)
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(5)
                    _read_request(connection)
                    answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        # shutdown, as close alone leaves a thread in accept().
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=10)


class Teller:
    """A vendor on a port of its own; it says to everybody what it was last told to."""

    url = ""
    _reply = b""

    def says(self, status: int, body: Any, **headers: str) -> None:
        content = json.dumps(body).encode()
        lines = {"content-length": str(len(content)), "connection": "close", **headers}
        fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        self._reply = f"HTTP/1.1 {status} Said\r\n{fields}\r\n".encode() + content

    def answer(self, connection: socket.socket) -> None:
        connection.sendall(self._reply)


@contextlib.contextmanager
def teller() -> Iterator[Teller]:
    made = Teller()
    with raw_server(made.answer) as (made.url, _):
        yield made
