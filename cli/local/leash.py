"""Runs one command and ends it, with all its descendants, as soon as the owner lets go.

Run as a script: `python leash.py GRACE COMMAND...`. Standard input is a socket of which only the
owner holds the other end, so the kernel closes it however the owner ends, SIGKILL included: nothing
has to be remembered, and nothing can be left behind. The first thing written to it is the process
group of the command; the exit status is the command's, as a shell reports it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress


def hold(grace: float, command: list[str]) -> int:
    """Run `command` until it ends or the owner does; end its group; return its exit status.

    `grace` is how many seconds it has between SIGTERM and SIGKILL.
    """
    owner = sys.stdin.fileno()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    with suppress(OSError):  # the owner is gone already: the loop notices
        os.write(owner, f"{child.pid}\n".encode())
    while child.poll() is None:
        ready, _, _ = select.select([owner, woken], [], [])
        if woken in ready:
            os.read(woken, 64)
        if owner in ready:
            _end(child, grace)
    _signal(child.pid, signal.SIGKILL)  # what the command left behind
    status = child.returncode
    return status if status >= 0 else 128 - status


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    _signal(child.pid, signal.SIGTERM)
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        _signal(child.pid, signal.SIGKILL)
        child.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a dead group
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(hold(float(sys.argv[1]), sys.argv[2:]))
