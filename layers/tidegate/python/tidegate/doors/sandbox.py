"""Work on a stranger's text in a process of its own, with limits that the kernel keeps.

The parsers of code have no bound that holds whatever the text: errors in it cost the square of its
length, and some of that in one step, out of reach of a callback. So a text that could cost much is
read by a child of this process. If it takes too much the child is ended, and the text counts as
one that is not read; a text with an error is not read in any case, so who is ended, and when,
changes no name of such a text.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Never

SMALL = 1_000
"""Characters that are worked on in this process: the worst texts of this length that were found
take 100 ms and 50 MB (`bench/parser_bounds.py`), and most snippets are no longer."""

CPU = 0.15
"""Seconds of CPU time a child may use."""

WALL = 5.0
"""Seconds after which it is ended whatever it waits for."""

MEMORY = 64 * 1024 * 1024
"""Bytes of data a child may have beyond those it began with. The largest texts without an error
take a third of it."""

_STATM = Path("/proc/self/statm")
_DATA = 5
"""Column of the pages of data and stack; proc_pid_statm(5)."""


class Sandbox:
    """Does one piece of work at a time, and remembers the last: both names of a text need it."""

    def __init__(self, small: int = SMALL) -> None:
        self._small = small
        self._last: tuple[tuple[Any, ...], Any] | None = None

    def __call__(self, work: Callable[..., Any], text: str, *args: Any) -> Any:
        """Return what comes of the work, as JSON gives it back; None if it took too much."""
        asked = (work, text, args)
        last = self._last
        if last is not None and last[0] == asked:
            return last[1]
        done = work(text, *args) if len(text) <= self._small else _apart(lambda: work(text, *args))
        self._last = (asked, done)
        return done


def _apart(work: Callable[[], Any]) -> Any:
    """Return what comes of the work in a child, or None if the child came to a bad end."""
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no memory, or no process, to be had for it
        os.close(reading)
        os.close(writing)
        return None
    if child == 0:
        _work(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(said) if status == 0 else None


def _work(work: Callable[[], Any], writing: int) -> Never:
    """Do the work and end this process, a child; nothing of its parent's is run on the way."""
    status = 1
    try:
        _limit()
        said = json.dumps(work()).encode()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(said)
        status = 0
    finally:
        os._exit(status)


def _limit() -> None:
    """Set the limits of this process, and have it end where it reaches one."""
    gc.disable()  # what is the parent's is not looked through
    faulthandler.disable()  # the parser writes to no memory that it did not get, and ends by that
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CPU)
    signal.setitimer(signal.ITIMER_REAL, WALL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if _STATM.exists():  # Linux: Lambda, and what the tests run on
        data = int(_STATM.read_text().split()[_DATA]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
