"""Child processes: started with a log file, awaited until ready, never outliving their owner."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

LOOPBACK = "127.0.0.1"
LEASH = Path(__file__).with_name("leash.py")
GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""

Probe = Callable[[], bool]

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "USER")


class StartFailed(RuntimeError):
    """A process ended or stayed silent before it was ready; `str()` ends with its last output."""


class Child:
    """One running command with everything it starts; as a context, stopped at the end."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        cwd: Path | None = None,
    ) -> None:
        self.name = name
        self.log = log
        self._hold, theirs = socket.socketpair()
        log.parent.mkdir(parents=True, exist_ok=True)
        with theirs, log.open("wb") as output:
            self._leash = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LEASH), str(GRACE), *command],
                stdin=theirs.fileno(),
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        told = self._hold.recv(32)
        self.group = int(told) if told else 0
        """The process group of the command and its descendants; 0 if it could not be started."""

    @property
    def running(self) -> bool:
        """Return whether the command has not ended."""
        return self._leash.poll() is None

    def finish(self, patience: float = 600) -> None:
        """Wait for the command to end well.

        Raises:
            StartFailed: it failed, or still ran after `patience` seconds.
        """
        try:
            status = self._leash.wait(patience)
        except subprocess.TimeoutExpired:
            raise StartFailed(f"{self.name} took over {patience:g} s\n{tail(self.log)}") from None
        if status:
            raise StartFailed(f"{self.name} failed with status {status}\n{tail(self.log)}")

    def stop(self) -> None:
        """End the group: SIGTERM, after `GRACE` seconds SIGKILL. Repeats are harmless."""
        self._hold.close()
        self._leash.wait(GRACE + 10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()


def environment(**extra: str) -> dict[str, str]:
    """Return what a child may see of our environment, and `extra`.

    Proxies, cloud profiles and other tools' settings would change what a local stack does.
    """
    return {name: os.environ[name] for name in _INHERITED if name in os.environ} | extra


def start(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    env: Mapping[str, str],
    ready: Probe,
    cwd: Path | None = None,
    patience: float = 30,
) -> Child:
    """Start `command` in its own session, its output in `log`, and wait until `ready()`.

    Raises:
        StartFailed: it ended or was not ready after `patience` seconds; it has been stopped.
    """
    child = Child(name, command, log=log, env=env, cwd=cwd)
    try:
        _await_ready(child, ready, patience)
    except BaseException:
        child.stop()
        raise
    return child


def _await_ready(child: Child, ready: Probe, patience: float) -> None:
    until = time.monotonic() + patience
    while not ready():
        if not child.running:
            raise StartFailed(f"{child.name} ended before it was ready\n{tail(child.log)}")
        if time.monotonic() > until:
            raise StartFailed(f"{child.name} was not ready in {patience:g} s\n{tail(child.log)}")
        time.sleep(0.05)


def listening(port: int) -> Probe:
    """Return a probe for something that accepts TCP connections on a loopback port."""

    def probe() -> bool:
        with socket.socket() as attempt:
            attempt.settimeout(1)
            return attempt.connect_ex((LOOPBACK, port)) == 0

    return probe


def answering(port: int, path: str) -> Probe:
    """Return a probe for a server on a loopback port that answers 200 at `path`."""

    def probe() -> bool:
        try:
            return call("GET", port, path) == HTTPStatus.OK
        except (OSError, HTTPException):
            return False

    return probe


def call(method: str, port: int, path: str) -> int:
    """Return the status of one HTTP request to a loopback port; no proxy is asked."""
    with closing(HTTPConnection(LOOPBACK, port, timeout=5)) as connection:
        connection.request(method, path)
        return connection.getresponse().status


def free_port(low: int = 22_000, high: int = 32_000, also: int = 0) -> int:
    """Return a port on which nothing listens; with `also`, `port + also` is free as well.

    The default range is below the one from which systems take the ports of outgoing connections.

    Raises:
        StartFailed: no free port was found.
    """
    for port in random.sample(range(low, high), 200):
        if _is_free(port) and (not also or _is_free(port + also)):
            return port
    raise StartFailed(f"no free port between {low} and {high}")


def _is_free(port: int) -> bool:
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def tail(log: Path, lines: int = 25) -> str:
    """Return the last lines of a log file; empty if there is none."""
    if not log.exists():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
