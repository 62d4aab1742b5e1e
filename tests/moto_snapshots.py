"""Moto's transactions, as exact as moto makes them, at the price of the items they touch.

Moto copies a transaction's tables whole, once for each of its actions, to put the copies in their
place should it fail; and it keeps every item and every copy of a table that it ever made, for a
dashboard. Here a table is copied once, and only the items that the transaction names are its own:
nothing else can change before the copy is either dropped or all there is. Requests must be answered
one at a time, which moto's queries need too.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

import pytest
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table

Key = tuple[DynamoType, DynamoType | None]
Actions = list[dict[str, Any]]


class _Transaction(threading.local):
    """What the transaction of this thread touches, and the copies made for it."""

    keys: dict[int, list[Key]] | None = None
    """By the `id` of a table; None: no transaction, or one that moto is to copy for itself."""
    copies: dict[int, Table]


def install(patch: pytest.MonkeyPatch) -> None:
    """Let transactions copy what they touch until `patch` is undone."""
    whole = DynamoDBBackend.transact_write_items
    running = _Transaction()

    def transact_write_items(self: DynamoDBBackend, transact_items: Actions) -> None:
        running.keys, running.copies = _touched(self, transact_items), {}
        try:
            whole(self, transact_items)
        finally:
            running.keys, running.copies = None, {}

    def copied(self: Table, memo: dict[int, Any]) -> Table:
        if running.keys is None or self.stream_shard is not None:
            return _whole(self, memo)
        if id(self) not in running.copies:
            running.copies[id(self)] = _snapshot(self, running.keys.get(id(self), ()))
        return running.copies[id(self)]

    patch.setattr(DynamoDBBackend, "transact_write_items", transact_write_items)
    patch.setattr(Table, "__deepcopy__", copied, raising=False)
    for model in (Item, Table):
        patch.setattr(model, "instances_tracked", deque(maxlen=0))


def _touched(backend: DynamoDBBackend, actions: Actions) -> dict[int, list[Key]] | None:
    """Return the keys of a transaction's items, or None if one is not plain text."""
    keys: dict[int, list[Key]] = {}
    for action in actions:
        for op in action.values():
            table = backend.tables.get(op.get("TableName"))
            named = op.get("Item", op.get("Key"))
            if table is None or named is None:
                return None
            parts = [named.get(name) for name in table.table_key_attrs]
            if not all(part and isinstance(part.get("S"), str) for part in parts):
                return None
            first, *rest = map(DynamoType, parts)
            keys.setdefault(id(table), []).append((first, rest[0] if rest else None))
    return keys


def _snapshot(table: Table, keys: Iterable[Key]) -> Table:
    """Return a copy that shares with `table` whatever is not at one of `keys`."""
    made: Table = object.__new__(type(table))
    made.__dict__.update(table.__dict__)
    made.items = items = copy.copy(table.items)
    for first, second in keys:
        if first not in items:
            continue
        if second is None:
            items[first] = copy.deepcopy(items[first])
            continue
        items[first] = partition = copy.copy(items[first])
        if second in partition:
            partition[second] = copy.deepcopy(partition[second])
    return made


def _whole(table: Table, memo: dict[int, Any]) -> Table:
    """Return the copy that Python makes of any object."""
    made: Table = object.__new__(type(table))
    memo[id(table)] = made
    made.__dict__.update(copy.deepcopy(table.__dict__, memo))
    return made
