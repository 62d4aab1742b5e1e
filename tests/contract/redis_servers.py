"""Servers of Redis that stand still, and one that is none."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from redis import Redis

from cli.local import redis
from cli.local.processes import LOOPBACK


@contextmanager
def saying(reply: bytes) -> Iterator[int]:
    """Run a server that answers whatever it hears with this; yield its port."""

    def serve() -> None:
        while True:
            try:
                client, _address = listener.accept()
            except OSError:
                return
            with client:
                while client.recv(65_536):
                    client.sendall(reply)

    with socket.create_server((LOOPBACK, 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def processes(url: str) -> dict[int, int]:
    """Return the process of every node by its port."""
    found = {}
    for port in redis.cluster_ports(url):
        with Redis(port=port) as client:
            found[port] = client.info("server")["process_id"]
    return found


@contextmanager
def silenced(pids: Iterable[int]) -> Iterator[None]:
    """Let processes stand still."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
