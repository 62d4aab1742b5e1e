"""The processes of a running stack, read from Linux's /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
READABLE = (PROC / "net" / "tcp").exists()

ESTABLISHED, LISTENING = "01", "0A"
"""States of a TCP socket in /proc/net/tcp (Linux, include/net/tcp_states.h)."""

_TABLES = ("tcp", "tcp6", "udp", "udp6")


@dataclass(frozen=True)
class Socket:
    """One row of a socket table; addresses are `host:port` in the kernel's hexadecimal."""

    table: str
    local: str
    remote: str
    state: str
    inode: str


def of_groups(groups: Iterable[int]) -> set[int]:
    """Return the processes of some process groups; those that only wait to be reaped are gone."""
    wanted = set(groups)
    found = set()
    for pid in _pids():
        with suppress(OSError):
            # After the last bracket: a command's name may hold any character.
            fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) in wanted and fields[0] != "Z":
                found.add(pid)
    return found


def of_folder(folder: Path) -> set[int]:
    """Return the processes, ours excepted, that were started for a folder or are in it."""
    found = set()
    for pid in _pids():
        with suppress(OSError):
            home = PROC / str(pid)
            named = str(folder) in (home / "cmdline").read_text(errors="replace")
            if named or (home / "cwd").readlink().is_relative_to(folder):
                found.add(pid)
    return found - {os.getpid()}


def variable(pid: int, name: str) -> str | None:
    """Return an environment variable a process was started with."""
    with suppress(OSError):
        pairs = (PROC / str(pid) / "environ").read_text(errors="replace").split("\0")
        return next((p.partition("=")[2] for p in pairs if p.startswith(f"{name}=")), None)
    return None


def sockets(pids: Iterable[int]) -> list[Socket]:
    """Return the TCP and UDP sockets of some processes."""
    held = {inode for pid in pids for inode in _inodes(pid)}
    return [socket for socket in _sockets() if socket.inode in held]


def port(address: str) -> int:
    """Return the port of a socket's address."""
    return int(address.rpartition(":")[2], 16)


def _sockets() -> Iterator[Socket]:
    for table in _TABLES:
        path = PROC / "net" / table
        if path.exists():  # a machine may have no IPv6
            for row in path.read_text().splitlines()[1:]:
                fields = row.split()
                yield Socket(table, fields[1], fields[2], fields[3], fields[9])


def _inodes(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for descriptor in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                target = str(descriptor.readlink())
                if target.startswith("socket:["):
                    yield target[8:-1]


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
