"""The connection to Redis or Valkey: one node or a cluster, short timeouts, scripts by file.

redis-py's defaults hold a Lambda for a minute (5 s x 10 retries) and repeat what was executed; here
a call is tried twice, waits for a second in all, and every script knows its own repetition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from redis import Redis, RedisCluster
from redis.crc import key_slot
from redis.exceptions import NoScriptError

from tidegate.clock import Clock
from tidegate.doors import valkey_client
from tidegate.doors.valkey_client import AT_AN_END, TROUBLE, Waits
from tidegate.errors import CacheRefused, CacheUnavailable
from tidegate.settings import RedisSettings

if TYPE_CHECKING:
    from redis.credentials import CredentialProvider

TIMEOUT = 0.5
"""Seconds for a connection, and for a reply. A call waits for two of these in all."""

REST = 1.0
"""Seconds without another try after a failure: a request that needs Redis twice waits once."""


@dataclass(frozen=True, slots=True)
class Values:
    """A question: the values of keys that share one hash tag."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A script of `doors/lua` to be run, all keys of one hash tag."""

    name: str
    keys: tuple[str, ...]
    args: tuple[str | int, ...]


class Valkey:
    """Redis commands and scripts, whose every failure is `CacheUnavailable`.

    A mistake of ours is one, too (`CacheRefused`): it ends no request, and nobody calls a vendor
    without a pace. All keys of one call share one hash tag, so each call is one slot of a cluster.
    `together` sends calls of several tags at once: one round trip, to as many nodes as they are on.
    """

    def __init__(
        self,
        settings: RedisSettings,
        credentials: CredentialProvider | None,
        clock: Clock,
        timeout: float = TIMEOUT,
    ) -> None:
        self._settings = settings
        self._timeout = timeout
        self._clock = clock
        self._rests_until = 0.0
        self._credentials = credentials
        self._client: Redis | RedisCluster | None = None
        self._waits = Waits(timeout)
        self._connections: WeakSet[Any] = WeakSet()
        self._scripts: dict[str, Any] = {}

    def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """Return the values of keys."""
        return cast("list[str | None]", self._do(lambda client: client.mget(_of_one_slot(keys))))

    def get(self, key: str) -> str | None:
        """Return the value of a key."""
        return cast("str | None", self._do(lambda client: client.get(key)))

    def set(self, key: str, value: str, seconds: float) -> None:
        """Set a key for so many seconds."""
        millis = positive_millis(seconds)
        self._do(lambda client: client.set(key, value, px=millis))

    def delete(self, key: str) -> None:
        """Remove a key."""
        self._do(lambda client: client.delete(key))

    def get_hash(self, key: str) -> dict[str, str]:
        """Return the fields of a hash; none if there is none."""
        return cast("dict[str, str]", self._do(lambda client: client.hgetall(key)))

    def count_between(self, key: str, first: str, last: str) -> int:
        """Return how many members of a sorted set lie between two, by name (`ZLEXCOUNT`)."""
        return int(self._do(lambda client: client.zlexcount(key, first, last)))

    def remove(self, key: str, member: str) -> None:
        """Remove a member of a sorted set (`ZREM`)."""
        self._do(lambda client: client.zrem(key, member))

    def run(self, script: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """Return what a script of `doors/lua` returns."""
        return self._do(
            lambda client: self._script(client, script)(keys=_of_one_slot(keys), args=args)
        )

    def together(self, calls: Sequence[Values | Script]) -> list[Any]:
        """Return the replies to calls that are sent at once, each as if it were alone.

        They are independent: when they fail, some may have been executed.
        """
        return cast("list[Any]", self._do(lambda client: self._replies(client, calls)))

    def close(self) -> None:
        """Close the connections, those of a client that never came to be among them."""
        for connection in list(self._connections):
            connection.disconnect()
        self._connections.clear()
        if self._client is not None:
            self._client.close()
            self._client = None
            self._scripts.clear()

    def _do(self, call: Any) -> Any:
        if self._clock.now() < self._rests_until:
            raise CacheUnavailable("Redis was out of reach a moment ago")
        self._waits.begin()
        try:
            return call(self._connected())
        except TROUBLE as error:
            if valkey_client.refused(error):
                raise CacheRefused(f"Redis refused a call: {type(error).__name__}") from error
            self._rests_until = self._clock.now() + REST
            if isinstance(error, AT_AN_END):
                self.close()  # the next call asks the URL's host anew
            why = type(error.__cause__ or error).__name__
            raise CacheUnavailable(f"Redis is out of reach: {why}") from error

    def _replies(self, client: Redis | RedisCluster, calls: Sequence[Values | Script]) -> list[Any]:
        pipe: Any = client.pipeline(transaction=False)
        for call in calls:
            keys = _of_one_slot(call.keys)
            if isinstance(call, Values):
                pipe.execute_command("MGET", *keys)
            else:
                sha = self._script(client, call.name).sha
                pipe.execute_command("EVALSHA", sha, len(keys), *keys, *call.args)
        replies: list[Any] = pipe.execute(raise_on_error=False)
        for at, (call, reply) in enumerate(zip(calls, replies, strict=True)):
            if isinstance(call, Script) and isinstance(reply, NoScriptError):  # a new server
                script = self._script(client, call.name)
                replies[at] = script(keys=call.keys, args=call.args)
            elif isinstance(reply, Exception):
                raise reply
        return replies

    def _script(self, client: Redis | RedisCluster, name: str) -> Any:
        if name not in self._scripts:
            text = files("tidegate.doors").joinpath(f"lua/{name}.lua").read_text(encoding="utf-8")
            self._scripts[name] = client.register_script(text)
        return self._scripts[name]

    def _connected(self) -> Redis | RedisCluster:
        if self._client is None:
            tls = self._settings.url.startswith("rediss")
            kind = valkey_client.connections(tls, self._waits, self._connections)
            self._client = valkey_client.client(
                self._settings, self._credentials, self._timeout, kind
            )
        return self._client


def _of_one_slot(keys: Sequence[str]) -> Sequence[str]:
    """Return keys, one node held to what a cluster demands (redis.io: cluster specification).

    Raises:
        CacheRefused: the keys are of more than one slot.
    """
    if len({key_slot(key.encode()) for key in keys}) > 1:
        raise CacheRefused("the keys of one call are of more than one slot")
    return keys


def positive_millis(seconds: float) -> int:
    """Return a life in whole milliseconds.

    Raises:
        ValueError: it is not positive; a key without end, or ended at once, is a bug.
    """
    millis = int(seconds * 1000)
    if millis <= 0:
        raise ValueError("a key needs a life above zero")
    return millis


def connect(settings: RedisSettings, clock: Clock) -> Valkey:
    """Return the door to Redis; nothing connects until it is used."""
    if settings.iam_user is None or settings.iam_cache is None:
        return Valkey(settings, None, clock)
    from tidegate.doors.valkey_iam import IamCredentials  # signing is for the cloud alone

    credentials = IamCredentials(settings.iam_user, settings.iam_cache, settings.region)
    return Valkey(settings, credentials, clock)
