"""Which process holds the other end of a connection on this machine (Linux: /proc)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_ESTABLISHED = "01"


def owner(theirs: int, ours: int, group: int) -> int | None:
    """Return the process of a group whose socket goes from port `theirs` to port `ours`."""
    inode = _inode(theirs, ours)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    return next((pid for pid in members(group) if wanted in _descriptors(pid)), None)


def connected(port: int, group: int) -> list[int]:
    """Return the processes of a group that have a connection to a port of this machine."""
    wanted = {f"socket:[{row[9]}]" for row in _rows()
              if row[3] == _ESTABLISHED and _port(row[2]) == port}  # fmt: skip
    return [pid for pid in members(group) if wanted & _descriptors(pid)]


def members(group: int) -> Iterator[int]:
    """Yield the processes of a group; those that only wait to be reaped are gone."""
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # After the last bracket: a command's name may hold any character.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group and fields[0] != "Z":
                    yield int(entry.name)


def _rows() -> Iterator[list[str]]:
    """Yield the TCP connections (proc(5): net/tcp): 1 local, 2 remote, 3 state, 9 inode."""
    for row in (PROC / "net" / "tcp").read_text().splitlines()[1:]:
        yield row.split()


def _inode(local: int, remote: int) -> str | None:
    for fields in _rows():
        if (_port(fields[1]), _port(fields[2])) == (local, remote):
            return fields[9]
    return None


def _descriptors(pid: int) -> set[str]:
    found = set()
    with suppress(OSError):
        for descriptor in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                found.add(str(descriptor.readlink()))
    return found


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
