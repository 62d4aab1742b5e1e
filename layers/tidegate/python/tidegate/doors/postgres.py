"""One kept connection to PostgreSQL, for reading, with an end to every wait.

psycopg is imported when the first query is asked and not before (docs/decisions.md).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import dup
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

CONNECT_TIMEOUT = 2
"""Seconds; the least that libpq takes."""

_OPENED: Mapping[str, Any] = {
    "application_name": "tidegate",
    "client_encoding": "utf8",
    "connect_timeout": CONNECT_TIMEOUT,
    # A network that swallows everything is noticed within seconds.
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 3000,
    "autocommit": True,
    # Prepared statements belong to one connection of a pooler, and may outlive a change of schema.
    "prepare_threshold": None,
}

# Not as `options` of the connection: poolers refuse those.
_SETTINGS = (
    "SELECT set_config('default_transaction_read_only', 'on', false),"
    " set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false)"
)


@dataclass(frozen=True, slots=True)
class Waits:
    """How long a query may take, in seconds."""

    statement: float = 2.0
    lock: float = 1.0
    line: float = 3.0
    """After which the line is cut: a proxy that waits for a server, or a server that stands still,
    hears of no `statement_timeout`, and psycopg itself waits without end."""


class ConnectionString(Protocol):
    """A secret that holds one (doors/secrets.py)."""

    def __call__(self) -> str:
        """Return the secret's value, perhaps one of some minutes ago."""
        ...

    def forget(self) -> None:
        """Have it read anew at the next call."""
        ...


class PostgresServer:
    """One kept connection to a server, re-opened once when it turns out to be dead."""

    def __init__(self, secret: ConnectionString, waits: Waits = Waits()) -> None:
        self._secret = secret
        self._waits = waits
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def rows(self, query: sql.Composed, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return what one query gives.

        Raises:
            psycopg.Error: it could not be asked, or refused.
            ClientError, BotoCoreError: the connection string could not be read.
        """
        import psycopg

        # Lambda freezes a process for as long as it likes: what was open may be long gone.
        connection = self._connection
        if connection is not None:
            try:
                return self._ask(connection, query, values)
            except psycopg.OperationalError:
                if self._connection is not None:  # it is well; the query was not
                    raise
        self._connection = self._connected()
        return self._ask(self._connection, query, values)

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _ask(
        self,
        connection: psycopg.Connection[tuple[Any, ...]],
        query: sql.Composed,
        values: tuple[Any, ...],
    ) -> list[tuple[Any, ...]]:
        try:
            with _no_longer_than(self._waits.line, connection.fileno()):
                return connection.execute(query, values).fetchall()
        finally:
            if connection.closed:
                self.close()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Return a new connection.

        Neither libpq nor psycopg tells a wrong password from other trouble. So after any the
        secret is read again, and if it has changed that was it.
        """
        import psycopg

        used = self._secret()
        try:
            return self._opened(used)
        except psycopg.Error:
            self._secret.forget()
            latest = self._secret()
            if latest == used:
                raise
        return self._opened(latest)

    def _opened(self, string: str) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg

        opened = psycopg.connect(string, **_OPENED)
        try:
            with _no_longer_than(self._waits.line, opened.fileno()):
                opened.execute(_SETTINGS, (_ms(self._waits.statement), _ms(self._waits.lock)))
        except BaseException:
            opened.close()
            raise
        return opened


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f}ms"


@contextmanager
def _no_longer_than(seconds: float, descriptor: int) -> Iterator[None]:
    """Cut a line in the middle of a block that takes longer; who waits for it is told."""
    with socket.socket(fileno=dup(descriptor)) as line:

        def cut() -> None:
            with suppress(OSError):  # it was cut from the other side
                line.shutdown(socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
