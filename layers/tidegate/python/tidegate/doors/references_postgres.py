"""Reference sets in PostgreSQL, a primary or a read replica: one indexed query per lookup."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from tidegate.doors.postgres import PostgresServer
from tidegate.errors import ReferenceSetMissing, ReferencesUnavailable
from tidegate.rules.contracts import ReferenceSource

_BIGINT = re.compile(r"0|-?[1-9][0-9]{0,18}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class PostgresSource:
    """One set: a column of a table."""

    def __init__(self, server: PostgresServer, name: str, source: ReferenceSource) -> None:
        assert source.table is not None  # noqa: S101
        assert source.column is not None  # noqa: S101
        self._server = server
        self._name = name
        self._table = source.table
        self._column = source.column
        self._type = source.type

    def known(self, values: frozenset[str]) -> frozenset[str]:
        """Return those values that are members.

        A value that cannot be of the column's type is none, and is not sent.

        Raises:
            ReferenceSetMissing: table or column are not there, or are empty.
            ReferencesUnavailable: PostgreSQL could not be asked in time, or refused.
        """
        as_typed = _AS[self._type]
        as_stored = {value: stored for value in values if (stored := as_typed(value)) is not None}
        found: set[str] = set()
        if as_stored:
            query = "SELECT DISTINCT {column}::text FROM {table} WHERE {column} = ANY(%s::{type}[])"
            asked = sorted(set(as_stored.values()))
            found = {row[0] for row in self._rows(query, asked)}
        if not found:
            self.ready()
        return frozenset(value for value, stored in as_stored.items() if stored in found)

    def ready(self) -> None:
        """Return if there is any member.

        Raises:
            ReferenceSetMissing, ReferencesUnavailable: as above.
        """
        query = "SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} IS NOT NULL LIMIT 1)"
        if self._rows(query) != [(True,)]:
            raise ReferenceSetMissing(f"set {self._name}: it is empty")

    def _rows(self, query: str, *values: list[str]) -> list[tuple[Any, ...]]:
        """Return what a query about the set gives; errors name a class, as texts quote values."""
        import psycopg
        from psycopg import errors, sql

        composed = sql.SQL(query).format(
            table=sql.Identifier(*self._table.split(".")),
            column=sql.Identifier(*self._column.split(".")),
            type=sql.SQL(self._type),
        )
        try:
            return self._server.rows(composed, values)
        except (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName) as error:
            raise ReferenceSetMissing(f"set {self._name}: {type(error).__name__}") from None
        except psycopg.Error as error:
            raise ReferencesUnavailable(f"set {self._name}: {type(error).__name__}") from None


def _as_bigint(value: str) -> str | None:
    """Return a whole number as PostgreSQL writes it; None for what is none, or written otherwise.

    "007" and 7 are two values to whoever compares texts, so they are here.
    """
    return value if _BIGINT.fullmatch(value) and -(2**63) <= int(value) < 2**63 else None


def _as_uuid(value: str) -> str | None:
    """Return a UUID as PostgreSQL writes it: either case is read (RFC 9562, section 4)."""
    return str(UUID(value)) if _UUID.fullmatch(value) else None


def _as_text(value: str) -> str | None:
    """Return a text that can be stored: neither with NUL nor with half of a surrogate pair."""
    with suppress(UnicodeEncodeError):
        return value if b"\0" not in value.encode() else None
    return None


_AS: Mapping[str, Callable[[str], str | None]] = {
    "bigint": _as_bigint,
    "text": _as_text,
    "uuid": _as_uuid,
}
"""A value as the column's type has it."""
