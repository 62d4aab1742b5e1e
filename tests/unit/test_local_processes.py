"""Children of the local stack: ready before they are used, gone with their owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.local import processes
from cli.local.claim import Claimed, claimed, owner, released
from cli.local.processes import StartFailed

SERVER = [sys.executable, "-m", "http.server", "--bind", processes.LOOPBACK]

# A child with a grandchild that ignores SIGTERM, as a Lambda worker amid a job might.
STUBBORN = """
import signal, subprocess, sys, time
subprocess.Popen([sys.executable, "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"])
time.sleep(60)
"""

OWNER = """
import signal, sys, time
from pathlib import Path
from cli.local.processes import Child, environment
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
command = [sys.executable, "-c", sys.argv[2]]
child = Child("child", command, log=Path(sys.argv[1]), env=environment())
print(child.group, flush=True)
time.sleep(60)
"""


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def gone(group: int, patience: float = 10) -> bool:
    until = time.monotonic() + patience
    while alive(group):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_started_when_ready_and_gone_when_stopped(tmp_path: Path) -> None:
    port = processes.free_port()
    child = processes.start(
        "server",
        [*SERVER, str(port)],
        log=tmp_path / "logs" / "server.log",
        env=processes.environment(),
        cwd=tmp_path,
        ready=processes.answering(port, "/"),
    )
    with child:
        assert child.running
        assert processes.listening(port)()
    assert not child.running
    assert gone(child.group)
    assert not processes.listening(port)()
    child.stop()


def test_one_that_ends_early_says_why(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match=r"(?s)ended before it was ready.*no such luck"):
        processes.start(
            "server",
            [sys.executable, "-c", "raise SystemExit('no such luck')"],
            log=tmp_path / "log",
            env=processes.environment(),
            ready=lambda: False,
        )


def test_one_that_never_gets_ready_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match=r"not ready in 0.3 s"):
        processes.start(
            "sleeper",
            [sys.executable, "-c", STUBBORN],
            log=tmp_path / "log",
            env=processes.environment(),
            ready=lambda: False,
            patience=0.3,
        )


def test_failure_of_a_command_is_told_with_its_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('half done'); raise SystemExit(3)"]
    with (
        processes.Child("job", command, log=tmp_path / "log", env={}) as child,
        pytest.raises(StartFailed, match=r"(?s)status 3.*half done"),
    ):
        child.finish(30)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_its_owner(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path / "log"), STUBBORN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        assert alive(group)
        parent.send_signal(number)
        parent.wait(10)
    assert gone(group)


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    assert owner(tmp_path / "stack") is None
    with claimed(tmp_path / "stack"):
        assert owner(tmp_path / "stack") == os.getpid()
        assert not released(tmp_path / "stack", 0.1)
        with pytest.raises(Claimed), claimed(tmp_path / "stack"):
            pass
    assert owner(tmp_path / "stack") is None


def test_ports_that_are_given_are_free() -> None:
    port = processes.free_port(12_000, 20_000, also=10_000)
    assert not processes.listening(port)()
    assert not processes.listening(port + 10_000)()
