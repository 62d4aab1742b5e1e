"""A wire between the workers of one model and the vendor, which can be cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from cli.local.processes import LOOPBACK
from cli.local.stack import StackInfo, client

_CHUNK = 65_536


class Wire:
    """Relays connections byte by byte; cut, it drops each as soon as something is asked on it."""

    def __init__(self, upstream: str) -> None:
        """Listen on a free port for connections to the server at `upstream`."""
        address = urlsplit(upstream)
        self._upstream = (address.hostname or LOOPBACK, address.port or 80)
        self._listener = socket.create_server((LOOPBACK, 0), backlog=64)
        self.is_cut = False
        self.dropped = 0
        """Requests that found it cut."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Return where it listens."""
        return f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._upstream)
                for ends, asks in (((near, far), True), ((far, near), False)):
                    threading.Thread(target=self._pass, args=(*ends, asks), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if self.is_cut and asks:
                    self.dropped += 1
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def wired(info: StackInfo, model: str) -> Iterator[Wire]:
    """Put a wire between the workers of a model and the vendor."""
    lambda_: Any = client(info.aws_endpoint, "lambda")
    name = info.functions[f"worker-{model}"]
    wire = Wire(info.vendor_url)
    before = lambda_.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    url = before["VENDOR_BASE_URL"].replace(info.vendor_url, wire.url)
    try:
        lambda_.update_function_configuration(
            FunctionName=name, Environment={"Variables": {**before, "VENDOR_BASE_URL": url}}
        )
        yield wire
    finally:
        lambda_.update_function_configuration(FunctionName=name, Environment={"Variables": before})
        lambda_.close()
        wire.close()
