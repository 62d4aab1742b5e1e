"""Sets in a real PostgreSQL: the tables, who reads them, and what the server was asked."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.contract.postgres import Postgres
from tidegate.doors.postgres import PostgresServer, Waits
from tidegate.doors.references_postgres import PostgresSource
from tidegate.errors import ReferencesUnavailable
from tidegate.rules.contracts import ReferenceSource

SHORT = Waits(statement=1.2, lock=0.4, line=2.5)
ONE = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
ROWS = 100_000
STATEMENT = re.compile(r"LOG: +(?:execute [^:]*|statement): (.*)")

TABLES = (
    f"CREATE TABLE accounts AS SELECT id FROM generate_series(1, {ROWS}) AS id",  # noqa: S608
    "ALTER TABLE accounts ALTER id TYPE bigint, ADD PRIMARY KEY (id)",
    "INSERT INTO accounts VALUES (9223372036854775807), (-5)",
    "CREATE TABLE towns (name varchar(40))",
    "CREATE INDEX ON towns (name)",
    "INSERT INTO towns VALUES ('Bern'), ('Bern'), ('Zürich, HB'), (''), (NULL)",
    "CREATE SCHEMA other",
    "CREATE TABLE other.tickets (id uuid PRIMARY KEY)",
    f"INSERT INTO other.tickets VALUES ('{ONE}')",  # noqa: S608
    "CREATE TABLE nothing (id bigint)",
    "CREATE TABLE nulls (id bigint)",
    "INSERT INTO nulls VALUES (NULL)",
    "CREATE TABLE hidden (id bigint)",
    "CREATE VIEW slow AS SELECT 1::bigint AS id FROM pg_sleep(20)",
    "ANALYZE",
    "CREATE ROLE reader LOGIN PASSWORD 'first'",
    "ALTER ROLE reader SET log_statement = 'all'",
    "GRANT USAGE ON SCHEMA other TO reader",
    "GRANT SELECT ON accounts, towns, other.tickets, nothing, nulls, slow TO reader",
)


class Secret:
    """The connection string, as Secrets Manager's door gives it."""

    def __init__(self, value: str) -> None:
        self.value = self.kept = value

    def __call__(self) -> str:
        return self.kept

    def forget(self) -> None:
        self.kept = self.value


@contextmanager
def connecting(secret: Secret, waits: Waits | None = None) -> Iterator[PostgresServer]:
    server = PostgresServer(secret, waits or Waits(5, 5, 8))
    yield server
    server.close()


def source(server: PostgresServer, table: str, column: str = "id", kind: Any = "bigint") -> Any:
    at = ReferenceSource(source="postgresql", table=table, column=column, type=kind)
    return PostgresSource(server, "accounts", at)


def known(asked: PostgresSource, *values: object) -> set[str]:
    return set(asked.known(frozenset(map(str, values))))


@contextmanager
def statements(running: Postgres) -> Iterator[list[str]]:
    """Collect what a reader has the server do."""
    before, said = len(running.log()), list[str]()
    yield said
    said += STATEMENT.findall(running.log()[before:])


def took(act: Callable[[], object], cause: str) -> float:
    """Return the seconds until something was unavailable."""
    begun = time.monotonic()
    with pytest.raises(ReferencesUnavailable, match=f"^set accounts: {cause}$"):
        act()
    return time.monotonic() - begun
