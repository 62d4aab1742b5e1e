"""What answers refer to, behind one door: which values are members of which set.

Whatever goes wrong is `ReferencesUnavailable`, ours and passing: no answer passes for it, and none
is refused for it. Its message names the set and the kind of trouble, and never a value.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import Clock
from tidegate.doors.dynamo import Table
from tidegate.doors.postgres import ConnectionString, PostgresServer
from tidegate.doors.references_dynamodb import DynamoSource
from tidegate.doors.references_postgres import PostgresSource
from tidegate.errors import Defect, DoorError, ReferenceSetMissing, ReferencesUnavailable
from tidegate.rules.contracts import ReferenceSource
from tidegate.settings import SettingMissing

POSITIVE = 60.0
"""Seconds for which a member is taken for one without another look. What was none is looked up
each time: it may have been added."""

MOST = 10_000
"""Members remembered in a process, of all sets."""

READY = 30.0
"""Seconds for which a set that is there is taken to be."""


class Source(Protocol):
    """Where one set is."""

    def known(self, values: frozenset[str]) -> frozenset[str]:
        """Return those values that are members, by a fresh look at a set that is there.

        Raises:
            ReferenceSetMissing: it is not, or empty.
            DoorError, ClientError, BotoCoreError: it could not be looked into.
        """
        ...

    def ready(self) -> None:
        """Return if the set is there and not empty.

        Raises:
            ReferenceSetMissing, DoorError, ClientError, BotoCoreError: as above.
        """
        ...


class References:
    """All sets of one function."""

    def __init__(self, sources: Mapping[str, Source], clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._members: OrderedDict[tuple[str, str], float] = OrderedDict()
        """Until when each is known to be one, the oldest first."""
        self._ready: dict[str, float] = {}

    def known(self, set_name: str, values: frozenset[str]) -> frozenset[str]:
        """Return those values that are members of a set.

        Raises:
            ReferenceSetMissing: the set was never loaded, or is empty.
            ReferencesUnavailable: it could not be looked into.
        """
        now = self._clock.now()
        remembered = {value for value in values if self._members.get((set_name, value), 0.0) > now}
        rest = values - remembered
        if not rest:
            return values
        try:
            with _trouble(set_name):
                found = self._source(set_name).known(rest) & rest
        except ReferencesUnavailable:
            self._ready.pop(set_name, None)
            raise
        self._remember(set_name, found, now + POSITIVE)
        return found | remembered

    def ready(self, names: Iterable[str]) -> None:
        """Return if all these sets are there and not empty.

        Raises:
            ReferenceSetMissing: one was never loaded, or is empty.
            ReferencesUnavailable: one could not be looked into.
        """
        for name in names:
            if self._ready.get(name, 0.0) > self._clock.now():
                continue
            with _trouble(name):
                self._source(name).ready()
            self._ready[name] = self._clock.now() + READY

    def _source(self, name: str) -> Source:
        try:
            return self._sources[name]
        except KeyError:
            raise ReferenceSetMissing(f"set {name}: the catalogue has none of this name") from None

    def _remember(self, name: str, members: Iterable[str], until: float) -> None:
        for member in members:
            self._members.pop((name, member), None)
            self._members[name, member] = until
        while len(self._members) > MOST:
            self._members.popitem(last=False)


def build(
    sources: Mapping[str, ReferenceSource],
    table: Table | None,
    secret: ConnectionString | None,
    clock: Clock,
) -> References:
    """Return the door to the sets that a model's contract refers to, by `Catalogue.sources`.

    Nothing is connected to, and no library of PostgreSQL loaded, before a set of it is asked for.

    Raises:
        SettingMissing: the function was not told where a set of its own is.
    """
    made: dict[str, Source] = {}
    server: PostgresServer | None = None
    for name, source in sources.items():
        if source.source == "dynamodb":
            if table is None:
                raise SettingMissing("environment variable REFERENCES_TABLE is not set")
            made[name] = DynamoSource(table, name, clock)
        else:
            if secret is None:
                raise SettingMissing("environment variable REFERENCES_SECRET is not set")
            server = server or PostgresServer(secret)
            made[name] = PostgresSource(server, name, source)
    return References(made, clock)


@contextmanager
def _trouble(name: str) -> Iterator[None]:
    """Turn every trouble with a set into the one that callers know.

    Its cause is left out, as what AWS says may quote what it was asked.
    """
    try:
        yield
    except ReferencesUnavailable:
        raise
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "ClientError")
        raise ReferencesUnavailable(f"set {name}: {code}") from None
    except (DoorError, Defect, BotoCoreError) as error:
        raise ReferencesUnavailable(f"set {name}: {type(error).__name__}") from None
