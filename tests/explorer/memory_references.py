"""The reference sets of a deployment, in memory: loaded as an operator does, lost, out of reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.explorer.hub import Hub
from tests.explorer.memory_table import MemoryTable, Store
from tests.explorer.models import MEMBER, SET
from tests.explorer.processes import CountedIds, VirtualClock
from tidegate.doors.reference_sets import ReferenceSets
from tidegate.doors.references import References, Source
from tidegate.doors.references_dynamodb import DynamoSource
from tidegate.rules.contracts import ReferenceSource

TABLE = "references"


class Sets:
    """The table of the sets, filled; each process looks into it through a door of its own."""

    def __init__(self, hub: Hub, store: Store) -> None:
        self._store = store
        self._clock = VirtualClock(hub)
        self._table = MemoryTable(hub, store, TABLE)
        # The first one is what a look asks for besides, so it is none that answers name.
        members = ["1", str(MEMBER)]
        ReferenceSets(self._table, self._clock, CountedIds()).load(SET, members, by="me", why="-")
        self._loaded = store.tables.pop(TABLE)
        self.load()

    def load(self) -> None:
        """Let the sets be as loaded, and within reach."""
        self._store.tables[TABLE] = dict(self._loaded)
        self._store.unreached.discard(TABLE)

    def lose(self) -> None:
        """Let there be no sets."""
        self._store.tables[TABLE] = {}

    def leave(self) -> None:
        """Let the table be out of reach until it is loaded."""
        self._store.unreached.add(TABLE)

    def door(self, sources: Mapping[str, ReferenceSource]) -> tuple[References, Callable[[], None]]:
        """Return a process's door to sets, and how it forgets what it knows of them."""
        made = {name: DynamoSource(self._table, name, self._clock) for name in sources}
        known: Mapping[str, Source] = made
        references = References(known, self._clock)

        def forget() -> None:
            references._members.clear()
            references._ready.clear()
            for source in made.values():
                source._until = 0.0

        return references, forget
