"""A relay for Redis's protocol (redis.io: RESP), one command and its reply at a time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

from bench.deployed.call import Call, Watch
from bench.deployed.owner import owner
from bench.deployed.steps import redis_step
from cli.local.processes import LOOPBACK

_WHOLE = b"+-:,_#("
_SIZED = b"$=!"
_PAIRS = b"%|"


def value(stream: BufferedIOBase) -> bytes:
    """Return the bytes of the next value; empty at the end of the stream."""
    line = stream.readline()
    if not line or line[:1] in _WHOLE:
        return line
    size = int(line[1:])
    if line[:1] in _SIZED:
        return line if size < 0 else line + stream.read(size + 2)
    count = 2 * size if line[:1] in _PAIRS else max(size, 0)
    return line + b"".join(value(stream) for _ in range(count))


def words(command: bytes) -> list[bytes]:
    """Return the parts of a command, which is an array of sized strings."""
    parts, at = [], command.index(b"\r\n") + 2
    while at < len(command):
        begin = command.index(b"\r\n", at) + 2
        size = int(command[at + 1 : begin - 2])
        parts.append(command[begin : begin + size])
        at = begin + size + 2
    return parts


class _Server(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, role: str, upstream: str, group: int, watch: Watch) -> None:
        self.role, self.group, self.watch = role, group, watch
        address = urlsplit(upstream)
        self.upstream = (address.hostname or LOOPBACK, address.port or 6379)
        super().__init__((LOOPBACK, 0), _Relay)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: callers that are killed leave their connections behind."""


class _Relay(StreamRequestHandler):
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        """Pass commands on and replies back until either side ends."""
        server = self.server
        ours = server.server_address[1]
        pid = owner(self.client_address[1], int(ours), server.group) or 0
        with socket.create_connection(server.upstream, 5) as upstream:
            upstream.settimeout(60)
            upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            replies = upstream.makefile("rb")
            while command := value(self.rfile):
                step = redis_step(words(command))
                call = Call(server.role, pid, step or "", command.decode("utf-8", "replace"))
                when = server.watch.seen(call) if step else None
                if when == "before":
                    server.watch.kill(call, "before")
                    return
                upstream.sendall(command)
                reply = value(replies)
                if when == "after":
                    server.watch.kill(call, "after")
                if when == "after" or not reply:
                    return
                self.wfile.write(reply)


@contextmanager
def redis_relay(role: str, upstream: str, group: int, watch: Watch) -> Iterator[str]:
    """Run a relay to the Redis at `upstream` for processes of a group; yield its URL."""
    server = _Server(role, upstream, group, watch)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"redis://{LOOPBACK}:{server.server_address[1]}/0"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
