"""redis-py's client for one node or a cluster, held to a sum of waits and to a set of errors.

A cluster's client asks on its own who has what, of as many nodes as it knows, and repeats a
pipeline command by command: no timeout of a socket bounds that. So what its connections wait is
counted for a call as a whole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from redis import Redis, RedisCluster
from redis.backoff import ExponentialWithJitterBackoff
from redis.connection import Connection, SSLConnection
from redis.exceptions import (
    ClusterCrossSlotError,
    ClusterError,
    DataError,
    RedisClusterException,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as WaitedTooLong
from redis.retry import Retry

if TYPE_CHECKING:
    from redis.credentials import CredentialProvider

    from tidegate.settings import RedisSettings

_STUMBLES = (AttributeError, LookupError, TypeError, ValueError)
"""What comes out of redis-py 8.1 where a server does not answer as it expects: another protocol, a
topology without a node (`AskError` in `RedisCluster._execute_command`), half a `MOVED`."""

TROUBLE = (RedisError, RedisClusterException, OSError, *_STUMBLES)
"""All that a call may raise. `RedisClusterException` is no `RedisError`, and is what a cluster that
cannot be reached looks like."""

AT_AN_END = (RedisClusterException, ClusterError, *_STUMBLES)
"""After these a client knows no node that answers, or what it knows is wrong. After any other a
connection is made anew by itself, and a cluster's client has asked who has what."""

REFUSALS = (ResponseError, ClusterCrossSlotError, DataError)
"""Said of a call by a server that is there, and by these very classes: those derived from them say
that the server is in trouble (`READONLY`, `OOM`, `CLUSTERDOWN`, `MOVED` …)."""

_IN_A_SCRIPT = ("-READONLY", "-OOM", "-LOADING", "-MASTERDOWN", "-CLUSTERDOWN", "-NOREPLICAS")
"""The same trouble, met by a command of a script: Redis before 7 puts it into a sentence."""


def refused(error: Exception) -> bool:
    """Return whether a call was wrong, and not the server in trouble."""
    return type(error) in REFUSALS and not any(word in str(error) for word in _IN_A_SCRIPT)


_TRIES = 2


class Waits(threading.local):
    """The seconds that a thread's call may still wait for the network."""

    def __init__(self, each: float, now: Callable[[], float] = time.monotonic) -> None:
        self._each, self._now = each, now
        self.begin()

    def begin(self) -> None:
        """Let a call begin: it may wait for as long as all its tries may."""
        self._left = self._each * _TRIES

    @property
    def over(self) -> bool:
        """Return whether nothing is left."""
        return self._left <= 0

    @contextmanager
    def waiting(self) -> Iterator[float]:
        """Yield the seconds that one wait may take, and count what it took."""
        begun = self._now()
        try:
            yield max(0.001, min(self._each, self._left))
        finally:
            self._left -= self._now() - begun


def connections(tls: bool, waits: Waits, made: WeakSet[Any]) -> type[Connection]:
    """Return a kind of connection whose waits are counted; each that is made is added to `made`."""
    kind: Any = SSLConnection if tls else Connection

    class Counted(kind):  # type: ignore[misc]  # one of two
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            made.add(self)

        def _connect(self) -> Any:
            with waits.waiting() as longest:
                self.socket_connect_timeout = longest
                return super()._connect()

        def send_packed_command(self, *args: Any, **named: Any) -> None:
            if waits.over:
                raise WaitedTooLong("no time is left for this call")
            super().send_packed_command(*args, **named)

        def read_response(self, *args: Any, **named: Any) -> Any:
            with waits.waiting() as longest:
                if self._sock is not None:
                    self._sock.settimeout(longest)
                return super().read_response(*args, **named)

    counted: type[Connection] = Counted
    return counted


def client(
    settings: RedisSettings,
    credentials: CredentialProvider | None,
    timeout: float,
    kind: type[Connection],
) -> Redis | RedisCluster:
    """Return a client of what the settings name; one of a cluster asks it at once who has what.

    Raises:
        RedisError, RedisClusterException, OSError: the cluster could not be asked.
    """
    options: dict[str, Any] = {
        "connection_class": kind,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "decode_responses": True,
        # A damaged value may be no text; it must be found out, not break the reading.
        "encoding_errors": "surrogateescape",
        "retry": Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.1), _TRIES - 1),
    }
    if credentials is not None:
        options["credential_provider"] = credentials
    # Never `rediss`: for that redis-py takes its own kind of connection instead of this one.
    scheme, _, rest = settings.url.partition("://")
    plain = f"redis://{rest}"
    if "+cluster" not in scheme:
        return Redis.from_url(plain, **options)
    return RedisCluster.from_url(plain, **options)
