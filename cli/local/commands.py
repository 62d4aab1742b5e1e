"""`tidegate local`: the stack of one folder, up and down.

`up` leaves a supervisor behind, a process that holds the stack until it is told to stop; whatever
ends it, SIGKILL included, the stack ends with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cli import ROOT
from cli.local.claim import Claimed, owner, released
from cli.local.processes import StartFailed, tail
from cli.local.stack import STACK_FILE, StackInfo, read, running_stack

app = typer.Typer(help="The local stack: emulated AWS, Redis, a mock vendor.", no_args_is_help=True)

Dir = Annotated[Path, typer.Option(help="Folder of the stack; several can run side by side.")]
Latency = Annotated[int, typer.Option(help="How long the mock vendor thinks, in milliseconds.")]

DEFAULT = Path(".local")
STOP_PATIENCE = 40.0


@app.command()
def up(dir: Dir = DEFAULT, latency_ms: Latency = 0) -> None:  # noqa: A002
    """Start the stack, leave it running and write stack.json."""
    console = Console()
    if owner(dir):
        running = read(dir)
        if running is None:
            console.print(f"The stack in {dir} is being started or stopped; try again shortly.")
            raise typer.Exit(1)
        console.print(f"Already up since {_since(dir)}; `down` stops it.")
        _show(console, dir, running)
        return
    log = dir / "logs" / "supervisor.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "cli", "local", "hold"]
    command += ["--dir", str(dir.resolve()), "--latency-ms", str(latency_ms)]
    with log.open("wb") as output:
        supervisor = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            start_new_session=True,
        )
    begun = time.monotonic()
    try:
        info = _await(console, dir, supervisor, log)
    except BaseException:
        supervisor.terminate()
        supervisor.wait(STOP_PATIENCE)
        raise
    if info is None:
        console.print(tail(log, 60), markup=False)
        raise typer.Exit(1)
    console.print(f"Up in {time.monotonic() - begun:.1f} s.")
    _show(console, dir, info)


@app.command()
def down(dir: Dir = DEFAULT) -> None:  # noqa: A002
    """Stop the stack; nothing of it stays running."""
    supervisor = owner(dir)
    if supervisor is None:
        print(f"Nothing is running in {dir}.")
        return
    os.kill(supervisor, signal.SIGTERM)
    if not released(dir, STOP_PATIENCE):
        os.kill(supervisor, signal.SIGKILL)
        released(dir, STOP_PATIENCE)
    print(f"Stopped the stack in {dir}.")


@app.command(hidden=True)
def hold(dir: Dir = DEFAULT, latency_ms: Latency = 0) -> None:  # noqa: A002
    """Hold the stack until SIGTERM: what `up` leaves behind."""

    def leave(_signal: int, _frame: object) -> None:
        raise typer.Exit

    def report(step: str) -> None:
        print(step, flush=True)

    signal.signal(signal.SIGTERM, leave)
    try:
        with running_stack(dir, latency_ms=latency_ms, report=report):
            report("up")
            while True:
                signal.pause()
    except (Claimed, StartFailed) as error:
        print(error)
        raise typer.Exit(1) from None


def _await(
    console: Console, folder: Path, supervisor: subprocess.Popen[bytes], log: Path
) -> StackInfo | None:
    """Show the supervisor's steps; return the stack when it is ready, None if it ended instead."""
    with console.status("starting") as status:
        while supervisor.poll() is None:
            lines = tail(log, 1)
            status.update(lines or "starting")
            if lines == "up":
                return read(folder)
            time.sleep(0.1)
    return None


def _since(folder: Path) -> str:
    return time.strftime("%H:%M:%S", time.localtime((folder / STACK_FILE).stat().st_mtime))


def _show(console: Console, folder: Path, info: StackInfo) -> None:
    rows = {"API": f"{info.api_url}/v1/jobs"}
    rows |= {f"key of {partner.id}": partner.api_key for partner in info.partners}
    rows |= {"AWS endpoint": info.aws_endpoint, "Redis": info.redis_url, "vendor": info.vendor_url}
    rows |= {"described in": str(folder / STACK_FILE), "logs in": str(folder / "logs")}
    for name, value in rows.items():
        # Plain, so that no terminal is too narrow for a key to be copied.
        console.print(f"  {name:<14} {value}", markup=False, highlight=False, soft_wrap=True)
