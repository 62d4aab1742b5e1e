"""A TCP proxy before Redis that loses, cuts and stalls on demand, and redis-py knows nothing of it.

Only what an application asked for counts: a connection's own greetings pass unharmed.
"""

from __future__ import annotations

import re
import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

GREETING = re.compile(rb"\*\d+\r\n\$\d+\r\n(HELLO|AUTH|CLIENT|SELECT|COMMAND|CLUSTER)\r\n", re.I)
CHUNK = 1 << 16


class Trouble(StrEnum):
    """What happens to a command."""

    LOST = "reply lost"
    """Executed; the connection breaks before the reply."""
    CUT = "cut"
    """Not executed: the connection breaks before the command arrives."""
    STALLED = "stalled"
    """Executed; the reply comes after the client has given up."""


class Proxy:
    """A proxy at a port of its own, in a thread per connection."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._trouble, self._left = Trouble.LOST, 0
        self.turns = 0
        """Round trips: how often somebody asked after all before was answered."""
        self._open: set[socket.socket] = set()
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def next(self, trouble: Trouble, times: int = 1) -> None:
        """Let this happen to the next commands."""
        with self._lock:
            self._trouble, self._left = trouble, times

    @property
    def spent(self) -> bool:
        """Return whether all that was ordered has happened."""
        with self._lock:
            return self._left == 0

    def close(self) -> None:
        """End it, and every connection with it."""
        self._closed = True
        with suppress(OSError):  # close alone leaves a thread in accept()
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server:
            self._open |= {client, server}
            with suppress(OSError), selectors.DefaultSelector() as ready:
                for each in (client, server):
                    ready.register(each, selectors.EVENT_READ)
                self._pump(client, server, ready)
            self._open -= {client, server}

    def _pump(
        self, client: socket.socket, server: socket.socket, ready: selectors.DefaultSelector
    ) -> None:
        trouble: Trouble | None = None
        asking = False
        while True:
            for key, _events in ready.select():
                data = key.fileobj.recv(CHUNK)  # type: ignore[union-attr]
                if not data:
                    return
                if key.fileobj is client:
                    if not asking and not GREETING.match(data):
                        with self._lock:
                            self.turns += 1
                    asking = True
                    trouble = trouble or self._strike(data)
                    if trouble is Trouble.CUT:
                        return
                    server.sendall(data)
                elif trouble is Trouble.LOST:
                    return
                elif trouble is None:
                    asking = False
                    client.sendall(self._announced(data))
                # Stalled: nothing more is said, until the client hangs up.

    def _announced(self, data: bytes) -> bytes:
        """Return a reply in which a cluster's node says that it is here (`CLUSTER SLOTS`)."""
        port, here = (b":%d\r\n$40\r\n" % each for each in (self._target[1], self.port))
        return data.replace(port, here)

    def _strike(self, data: bytes) -> Trouble | None:
        with self._lock:
            if self._left == 0 or GREETING.match(data):
                return None
            self._left -= 1
            return self._trouble


@contextmanager
def before(url: str) -> Iterator[tuple[Proxy, str]]:
    """Run a proxy before the one node at a URL of either kind; yield it and its own URL."""
    address = urlsplit(url)
    proxy = Proxy(address.hostname or "", address.port or 0)
    try:
        yield proxy, urlunsplit(address._replace(netloc=f"127.0.0.1:{proxy.port}"))
    finally:
        proxy.close()
