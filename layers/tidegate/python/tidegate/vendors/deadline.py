"""A total deadline over one HTTP call, down to every read of the socket.

HTTP clients bound the wait for the *next* byte. A server that sends one byte now and then, in the
headers or in the body, holds such a client for ever; here each wait is cut to what is left.
"""

from __future__ import annotations

import ssl
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpcore
import httpx

from tidegate.clock import Clock

_PIECE = 65_536
"""Bytes handed to the socket at once, so that a slow reader is noticed between them."""


class Deadline:
    """The end of one call, `seconds` from now."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.now() + seconds

    def left(self) -> float:
        """Return the seconds left.

        Raises:
            httpcore.ReadTimeout: there are none.
        """
        left = self._end - self._clock.now()
        if left <= 0:
            raise httpcore.ReadTimeout("total deadline")
        return left

    def check(self) -> None:
        """Go on only if there is time left.

        Raises:
            httpcore.ReadTimeout: there is none.
        """
        self.left()

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Bound every socket operation of this thread by this deadline."""
        token = _armed.set(self)
        try:
            yield
        finally:
            _armed.reset(token)


_armed: ContextVar[Deadline | None] = ContextVar("tidegate_vendor_deadline", default=None)


def _bounded(timeout: float | None) -> float | None:
    deadline = _armed.get()
    if deadline is None:
        return timeout
    left = deadline.left()
    return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _bounded(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            self._inner.write(buffer[start : start + _PIECE], _bounded(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _bounded(timeout)))

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        bounded = _bounded(timeout)
        return _Stream(super().connect_tcp(host, port, bounded, local_address, socket_options))


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class DeadlineTransport(httpx.BaseTransport):
    """HTTP/1.1 over sockets that know the deadline; no retries, not even of the connection.

    Its errors are httpcore's own, which `classify.TRANSPORT_ERRORS` holds beside httpx's.
    """

    def __init__(self, limits: httpx.Limits) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            retries=0,
            network_backend=_Backend(),
        )
        # A client that is dropped rather than closed leaves no socket behind.
        self._closing = weakref.finalize(self, self._pool.close)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response to one request, its body not yet read."""
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.read(),
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close every connection."""
        self._closing()
