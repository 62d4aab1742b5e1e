"""Reference sets in PostgreSQL, on a real server: found, missing, slow, locked, gone and back."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.contract import postgres
from tests.contract.postgres import Postgres
from tests.contract.postgres_sets import (
    ONE,
    ROWS,
    SHORT,
    TABLES,
    Secret,
    connecting,
    known,
    source,
    statements,
    took,
)
from tests.fakes import FakeClock
from tidegate.doors.postgres import PostgresServer
from tidegate.doors.references import References
from tidegate.errors import ReferenceSetMissing, ReferencesUnavailable


@pytest.fixture(scope="module")
def running() -> Iterator[Postgres]:
    with postgres.running() as server:
        server.run(*TABLES)
        yield server


@pytest.fixture
def secret(running: Postgres) -> Secret:
    running.run("ALTER ROLE reader PASSWORD 'first'")
    return Secret(running.url("reader", "first"))


@pytest.fixture
def server(secret: Secret) -> Iterator[PostgresServer]:
    with connecting(secret) as made:
        yield made


@pytest.fixture
def hasty(secret: Secret) -> Iterator[PostgresServer]:
    with connecting(secret, SHORT) as made:
        yield made


def test_members_of_each_type_are_known_and_nothing_else_is(server: PostgresServer) -> None:
    accounts = source(server, "accounts")
    asked = (1, ROWS, ROWS + 1, 0, -5, -6, 2**63 - 1)
    assert known(accounts, *asked) == {"1", str(ROWS), "-5", str(2**63 - 1)}
    towns = source(server, "towns", "name", "text")
    found = {"Bern", "Zürich, HB", ""}
    assert known(towns, *found, "bern", "Bern ", "Genève", "'; DROP TABLE towns --") == found
    tickets = source(server, "other.tickets", kind="uuid")
    assert known(tickets, ONE, ONE.upper(), ONE[:-1] + "2") == {ONE, ONE.upper()}


@pytest.mark.parametrize(
    ("table", "kind", "values"),
    [
        (
            "accounts",
            "bigint",
            ("01", "+1", "1.0", " 1", "", "-0", "x", "\u0661", "1_0", "\0"),
        ),
        ("accounts", "bigint", (2**63, -(2**63) - 1, "9" * 400)),
        ("towns", "text", ("Bern\0", "\ud800")),
        ("other.tickets", "uuid", (ONE[:-1], ONE.replace("-", ""), f"{{{ONE}}}", "1", "\0")),
    ],
    ids=["no numbers", "out of range", "no text", "no uuid"],
)
def test_what_cannot_be_of_the_type_is_no_member_and_is_not_sent(
    server: PostgresServer, running: Postgres, table: str, kind: str, values: tuple[Any, ...]
) -> None:
    column = "name" if table == "towns" else "id"
    server.rows(sql.SQL("SELECT {}").format(sql.Literal(1)))
    with statements(running) as said:
        assert known(source(server, table, column, kind), *values) == set()
    (look,) = said
    assert look.startswith("SELECT EXISTS")


def test_one_query_per_lookup_and_another_only_where_nothing_was_found(
    server: PostgresServer, running: Postgres
) -> None:
    accounts = source(server, "accounts")
    accounts.ready()
    with statements(running) as said:
        assert len(known(accounts, *range(1, 501))) == 500
        assert known(accounts, 1, -1) == {"1"}
        assert known(accounts, -1) == set()
    assert [line.split()[1] for line in said] == ["DISTINCT", "DISTINCT", "DISTINCT", "EXISTS"]


def test_an_index_is_what_is_looked_into(server: PostgresServer, running: Postgres) -> None:
    def scans() -> tuple[int, int]:
        server.rows(sql.SQL("SELECT {}()").format(sql.Identifier("pg_stat_force_next_flush")))
        with psycopg.connect(running.url()) as connection:
            figures = "SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relname = %s"
            row = connection.execute(figures, ("accounts",)).fetchone()
        assert row is not None
        return row[0], row[1]

    before = scans()
    for first in range(1, 1000, 100):
        assert len(known(source(server, "accounts"), *range(first, first + 100))) == 100
    after = scans()
    assert after[0] == before[0], "the whole table was read"
    assert after[1] > before[1]


@pytest.mark.parametrize(
    ("table", "column", "cause"),
    [
        ("nothing", "id", "it is empty"),
        ("nulls", "id", "it is empty"),
        ("nowhere", "id", "UndefinedTable"),
        ("nowhere.accounts", "id", "UndefinedTable"),
        ("accounts", "number", "UndefinedColumn"),
    ],
)
def test_a_set_that_is_empty_or_not_there_is_missing(
    server: PostgresServer, table: str, column: str, cause: str
) -> None:
    missing = source(server, table, column)
    for ask in (lambda: known(missing, 1), lambda: known(missing, "x"), missing.ready):
        with pytest.raises(ReferenceSetMissing, match=f"set accounts: {cause}"):
            ask()


@pytest.mark.parametrize(
    ("table", "column", "kind", "cause"),
    [
        ("hidden", "id", "bigint", "InsufficientPrivilege"),
        ("towns", "name", "bigint", "UndefinedFunction"),
    ],
)
def test_a_set_that_may_not_or_cannot_be_read_is_trouble_of_ours(
    server: PostgresServer, table: str, column: str, kind: str, cause: str
) -> None:
    with pytest.raises(ReferencesUnavailable, match=f"set accounts: {cause}") as raised:
        known(source(server, table, column, kind), 4711)
    assert not isinstance(raised.value, ReferenceSetMissing)
    assert "DISTINCT" not in "".join(traceback.format_exception(raised.value))


def test_a_lock_and_a_slow_query_are_not_waited_for(
    hasty: PostgresServer, running: Postgres
) -> None:
    accounts = source(hasty, "accounts")
    accounts.ready()
    with psycopg.connect(running.url()) as locking:
        locking.execute("LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE")
        assert took(lambda: known(accounts, 1), "LockNotAvailable") < 5
        locking.rollback()
    assert took(lambda: known(source(hasty, "slow"), 1), "QueryCanceled") < 5
    with statements(running) as said:
        assert known(accounts, 1) == {"1"}
    assert len(said) == 1, "the connection is still the same"


def test_a_server_that_stands_still_is_not_waited_for(
    hasty: PostgresServer, running: Postgres
) -> None:
    accounts = source(hasty, "accounts")
    ((process,),) = hasty.rows(sql.SQL("SELECT {}()").format(sql.Identifier("pg_backend_pid")))
    os.kill(process, signal.SIGSTOP)
    try:
        assert known(accounts, 1) == {"1"}, "on another connection"
    finally:
        os.kill(process, signal.SIGCONT)
    hasty.close()
    with running.still():
        assert took(lambda: known(accounts, 1), "ConnectionTimeout") < 8
    assert known(accounts, 1) == {"1"}


def test_nothing_can_be_written(server: PostgresServer, running: Postgres) -> None:
    running.run("GRANT INSERT ON nothing TO reader")
    insert = sql.SQL("INSERT INTO {} VALUES (1) RETURNING id").format(sql.Identifier("nothing"))
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        server.rows(insert)


def test_a_server_that_went_and_came_back_is_asked_again(
    server: PostgresServer, running: Postgres
) -> None:
    accounts = source(server, "accounts")
    assert known(accounts, 1) == {"1"}
    running.stop()
    try:
        for _ in range(2):
            took(lambda: known(accounts, 1), "OperationalError")
            took(accounts.ready, "OperationalError")
    finally:
        running.start()
    assert known(accounts, 1) == {"1"}
    running.stop()
    running.start()
    assert known(accounts, 2) == {"2"}, "the dead connection was replaced without a word"
    running.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
    assert known(accounts, 3) == {"3"}


def test_a_password_that_was_changed_is_read_anew(
    server: PostgresServer, running: Postgres, secret: Secret
) -> None:
    accounts = source(server, "accounts")
    assert known(accounts, 1) == {"1"}
    running.run("ALTER ROLE reader PASSWORD 'second'")
    assert known(accounts, 2) == {"2"}, "who is connected stays so"
    server.close()
    assert took(lambda: known(accounts, 1), "OperationalError") < 5
    secret.value = running.url("reader", "second")
    assert known(accounts, 3) == {"3"}


def test_two_sets_share_one_connection_of_a_name_that_tells_whose_it_is(
    server: PostgresServer, running: Postgres
) -> None:
    towns = source(server, "towns", "name", "text")
    references = References({"accounts": source(server, "accounts"), "towns": towns}, FakeClock())
    references.ready(["accounts", "towns"])
    assert references.known("accounts", frozenset({"1", "x"})) == {"1"}
    assert references.known("towns", frozenset({"1", "Bern"})) == {"Bern"}
    with psycopg.connect(running.url()) as connection:
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidegate'"
        assert connection.execute(count).fetchone() == (1,)


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_plain_text_is_no_way_out_where_tls_is_asked_for(running: Postgres, mode: str) -> None:
    with connecting(Secret(running.url().replace("=disable", f"={mode}"))) as server:
        assert took(lambda: known(source(server, "accounts"), 1), "OperationalError") < 5
