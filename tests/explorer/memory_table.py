"""DynamoDB in memory: consistent reads, conditional writes, transactions, an index that may lag."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from tests.explorer.conditions import compiled
from tests.explorer.hub import Hub
from tidegate.doors.actions import Action, Item
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.errors import Conflict, Throttled

READ = ("error",)
"""A crash before a read is the crash before what follows it: nothing has changed between."""
READ_MANY = ("error", "throttled")
WRITE = ("crash", "error", "twice", "lost", "stall")
DUE = ("error", "stale")

Watcher = Callable[[str, Item | None, Item | None], None]
"""Told of each item that changes: its table, the item before, the item after."""


def unreached() -> Exception:
    """Return what boto3 raises when a request went nowhere, its own tries included."""
    return EndpointConnectionError(endpoint_url="https://dynamodb")


def unanswered() -> Exception:
    """Return what boto3 raises when a request was sent and no reply came."""
    return ReadTimeoutError(endpoint_url="https://dynamodb")


class Store:
    """Every table of a deployment."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, dict[str, Item]]] = {}
        self.watchers: list[Watcher] = []
        self.after: list[Callable[[], None]] = []
        """Called when a write is whole."""
        self.due: dict[str, int] = {}
        """Index `due` by job: shard and time, as it would be without lag."""
        self.stale: dict[str, int] = {}
        """As it was when it was last read."""
        self.unreached: set[str] = set()
        """Tables that nobody can read at this time."""

    def items(self, table: str, pk: str) -> dict[str, Item]:
        """Return the items of a partition, by sort key."""
        return self.tables.setdefault(table, {}).get(pk, {})

    def all(self, table: str) -> Iterator[Item]:
        """Yield the items of a table."""
        for partition in self.tables.get(table, {}).values():
            yield from partition.values()

    def do(self, actions: Sequence[Action], home: str) -> None:
        """Do all actions or none.

        Raises:
            ConditionFailed: a condition did not hold.
        """
        found: list[Item | None] = []
        failed = False
        for action in actions:
            item = self.items(action.table or home, action.pk).get(action.sk)
            holds = compiled(action.condition)(item or {}, action.values)
            failed |= not holds
            found.append(None if holds else dict(item or {}))
        if len({(a.table or home, a.pk, a.sk) for a in actions}) < len(actions):
            raise AssertionError("DynamoDB refuses two actions on one item in a transaction")
        if failed:
            raise ConditionFailed(found)
        for action in actions:
            if action.kind != "ConditionCheck":
                self._apply(action, action.table or home)
        for done in self.after:
            done()

    def _apply(self, action: Action, table: str) -> None:
        partition = self.tables.setdefault(table, {}).setdefault(action.pk, {})
        before = partition.get(action.sk)
        after: Item | None = None
        if action.kind == "Put":
            after = {name: value for name, value in action.item.items() if value is not None}
        elif action.kind == "Update":
            after = {"pk": action.pk, "sk": action.sk, **(before or {})}
            for name, value in action.changes.items():
                if value is None:
                    after.pop(name, None)
                else:
                    after[name] = value
            for name, amount in action.adds.items():
                after[name] = after.get(name, 0) + amount
        if after is None:
            partition.pop(action.sk, None)
        else:
            partition[action.sk] = after
        if action.sk == "status":
            if after is not None and "due_shard" in after and "due_at" in after:
                self.due[action.pk] = after["due_at"]
            else:
                self.due.pop(action.pk, None)
        for watch in self.watchers:
            watch(table, before, after)


class MemoryTable(Table):
    """A table as one invocation sees it."""

    def __init__(self, hub: Hub, store: Store, name: str) -> None:
        self.name = name
        self._hub = hub
        self._store = store

    def get(self, pk: str, sk: str) -> Item | None:
        self._read(f"{self.name}.get {pk[:14]} {sk}")
        item = self._store.items(self.name, pk).get(sk)
        return None if item is None else dict(item)

    def get_many(self, keys: Sequence[tuple[str, str]]) -> list[Item]:
        self._read(f"{self.name}.get_many {len(keys)}", READ_MANY)
        found = [self._store.items(self.name, pk).get(sk) for pk, sk in dict.fromkeys(keys)]
        return [dict(item) for item in found if item is not None]

    def query(self, pk: str, first: str, last: str) -> Iterator[Item]:
        self._read(f"{self.name}.query {pk[:14]}")
        items = self._store.items(self.name, pk)
        return iter([dict(items[sk]) for sk in sorted(items) if first <= sk <= last])

    def due(self, shard: str, until: int) -> Iterator[Item]:
        now, before = _of_shard(self._store.due, shard), _of_shard(self._store.stale, shard)
        if not now and not before:  # an empty shard is read without effect
            return iter(())
        fault = self._hub.choose(f"{self.name}.due {shard}", DUE)
        if fault == "error":
            raise unreached()
        seen = before if fault == "stale" else now
        for pk in before:
            self._store.stale.pop(pk, None)
        self._store.stale.update(now)
        in_order = sorted((at, pk) for pk, at in seen.items() if at <= until)
        return iter([{"pk": pk, "sk": "status", "due_at": at} for at, pk in in_order])

    def scan(self) -> Iterator[Item]:
        self._read(f"{self.name}.scan")
        return iter([dict(item) for item in self._store.all(self.name)])

    def write(self, actions: Sequence[Action]) -> None:
        kinds = "+".join(a.sk if len(a.sk) < 20 else a.sk.rpartition("#")[2] for a in actions)
        fault = self._hub.choose(f"{self.name}.write {kinds}", WRITE)
        if fault == "error":
            # Reported alike wherever it is caught: conflicts without end, or nobody there.
            raise Conflict("the items kept being written by others")
        self._store.do(actions, self.name)
        if fault == "lost":
            raise unanswered()
        if fault == "twice":
            self._store.do(actions, self.name)

    def write_each(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self._store.do([action], self.name)

    def _read(self, door: str, faults: tuple[str, ...] = READ) -> None:
        out_of_reach = self.name in self._store.unreached
        fault = self._hub.choose(door, () if out_of_reach else faults)
        if fault == "throttled":
            raise Throttled("too much at once")
        if fault or out_of_reach:
            raise unreached()


def _of_shard(due: dict[str, int], shard: str) -> dict[str, Any]:
    from tidegate.doors.items import shard as shard_of

    return {pk: at for pk, at in due.items() if shard_of(pk.partition("#")[2]) == shard}
