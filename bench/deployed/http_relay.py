"""A relay for HTTP between functions and AWS or the vendor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from bench.deployed.call import Call, Watch
from bench.deployed.owner import owner
from cli.local.processes import LOOPBACK

Name = Callable[[str, Mapping[str, str], str, bytes], str]
"""Names a request's step by method, headers, path and body."""

_NOT_PASSED_ON = {"connection", "transfer-encoding", "content-length", "keep-alive", "expect"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, role: str, upstream: str, group: int, name: Name, watch: Watch) -> None:
        self.role, self.group, self.name, self.watch = role, group, name, watch
        self.upstream = urlsplit(upstream).netloc
        super().__init__((LOOPBACK, 0), _Relay)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: callers that are killed leave their connections behind."""


class _Relay(BaseHTTPRequestHandler):
    """One connection of a function."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        """Find out who is calling."""
        super().setup()
        ours = self.server.server_address[1]
        self._pid = owner(self.client_address[1], int(ours), self.server.group) or 0

    def relay(self) -> None:
        """Pass one request on, and its answer back, unless the caller is killed over it."""
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        step = server.name(self.command, dict(self.headers.items()), self.path, body)
        call = Call(server.role, self._pid, step, body.decode("utf-8", "replace"))
        when = server.watch.seen(call)
        if when == "before":
            self._kill(call)
            return
        headers = {n: v for n, v in self.headers.items() if n.lower() not in _NOT_PASSED_ON}
        # Each on a connection of its own: the emulator drops those that are idle for 5 s.
        with closing(HTTPConnection(server.upstream, timeout=60)) as upstream:
            upstream.request(self.command, self.path, body or None, headers)
            reply = upstream.getresponse()
            content = reply.read()
        if when == "after":
            self._kill(call, after=True)
            return
        self.send_response_only(reply.status, reply.reason)
        for name, value in reply.getheaders():
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = relay  # noqa: N815 - http.server's names

    def _kill(self, call: Call, *, after: bool = False) -> None:
        self.server.watch.kill(call, "after" if after else "before")
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def http_relay(role: str, upstream: str, group: int, name: Name, watch: Watch) -> Iterator[str]:
    """Run a relay to the server at `upstream` for processes of a group; yield its URL."""
    server = _Server(role, upstream, group, name, watch)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
