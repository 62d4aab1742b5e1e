"""Who runs the stack of a folder: a file lock, which no crash leaves behind."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


class Claimed(RuntimeError):
    """Another process runs the stack of this folder."""


GLANCE = 0.2
"""Seconds a lock may be held by somebody who only looks whether there is an owner."""


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Hold the folder for this process.

    Raises:
        Claimed: another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "owner").open("a+") as lock:
        until = time.monotonic() + GLANCE
        while not _locked(lock):
            if time.monotonic() > until:
                raise Claimed(f"{folder} already has a stack")
            time.sleep(0.02)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def owner(folder: Path) -> int | None:
    """Return the process id of who holds the folder, or None."""
    path = folder / "owner"
    if not path.exists():
        return None
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(lock.read() or 0) or None
    return None


def _locked(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def released(folder: Path, patience: float) -> bool:
    """Return whether nobody holds the folder; wait up to `patience` seconds for it."""
    until = time.monotonic() + patience
    while owner(folder) is not None:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
