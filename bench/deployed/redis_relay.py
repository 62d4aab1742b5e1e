"""A relay for Redis's protocol (redis.io: RESP), one write of the client and its replies at a time.

What a client sends in one write is one step: it has sent it all before it hears anything, and dies
before or after the whole of it. Commands that a connection brings together are therefore passed on
together (on the loopback address a write of some kilobytes arrives as it was sent).
"""

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


def taken(sent: bytes) -> tuple[list[list[bytes]], bytes]:
    """Return the parts of the commands that are whole, and the bytes that are left.

    A command is an array of sized strings.
    """
    commands, begin = list[list[bytes]](), 0
    while (found := _command(sent, begin)) is not None:
        parts, begin = found
        commands.append(parts)
    return commands, sent[begin:]


def _command(sent: bytes, at: int) -> tuple[list[bytes], int] | None:
    """Return the parts of the command at a place, and where it ends; None if it is not whole."""
    parts = list[bytes]()
    end = sent.find(b"\r\n", at)
    if end < 0:
        return None
    count, at = int(sent[at + 1 : end]), end + 2
    for _ in range(count):
        end = sent.find(b"\r\n", at)
        if end < 0:
            return None
        size, begin = int(sent[at + 1 : end]), end + 2
        at = begin + size + 2
        if at > len(sent):
            return None
        parts.append(sent[begin : begin + size])
    return parts, at


def writes(connection: socket.socket) -> Iterator[tuple[list[list[bytes]], bytes]]:
    """Yield what a client sends, write by write: its commands, and the bytes of all of them."""
    sent = b""
    while more := connection.recv(65_536):
        sent += more
        commands, left = taken(sent)
        if not left:
            yield commands, sent
            sent = b""


def announced(reply: bytes, port: int, here: int) -> bytes:
    """Return a reply in which a cluster's node says that it is at another port.

    Of a node `CLUSTER SLOTS` says its address, its port and its id of forty characters
    (redis.io: CLUSTER SLOTS); a client goes on to where that says.
    """
    return reply.replace(b":%d\r\n$40\r\n" % port, b":%d\r\n$40\r\n" % here)


class _Server(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, role: str, upstream: str, group: int, watch: Watch) -> None:
        self.role, self.group, self.watch = role, group, watch
        address = urlsplit(upstream)
        self.scheme = address.scheme
        self.upstream = (address.hostname or LOOPBACK, address.port or 6379)
        super().__init__((LOOPBACK, 0), _Relay)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: callers that are killed leave their connections behind."""


class _Relay(StreamRequestHandler):
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        """Pass writes on and replies back until either side ends."""
        server = self.server
        ours = server.server_address[1]
        pid = owner(self.client_address[1], int(ours), server.group) or 0
        with socket.create_connection(server.upstream, 5) as upstream:
            upstream.settimeout(60)
            upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            replies = upstream.makefile("rb")
            for commands, sent in writes(self.connection):
                step = redis_step(commands)
                call = Call(server.role, pid, step or "", sent.decode("utf-8", "replace"))
                when = server.watch.seen(call) if step else None
                if when == "before":
                    server.watch.kill(call, "before")
                    return
                upstream.sendall(sent)
                answers = [value(replies) for _ in commands]
                if when == "after":
                    server.watch.kill(call, "after")
                if when == "after" or not all(answers):
                    return
                self.wfile.write(announced(b"".join(answers), server.upstream[1], int(ours)))


@contextmanager
def redis_relay(role: str, upstream: str, group: int, watch: Watch) -> Iterator[str]:
    """Run a relay to the one node at `upstream` for processes of a group; yield its URL."""
    server = _Server(role, upstream, group, watch)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"{server.scheme}://{LOOPBACK}:{server.server_address[1]}/0"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
