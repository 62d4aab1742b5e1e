"""`tidegate demo`: a private stack, every act on it, and whether all was as promised."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import httpx
import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.demo.acts import ACTS
from cli.demo.facts import Check, Facts, Unfinished
from cli.demo.screen import Screen, console
from cli.demo.stage import OVERLAY, Act, Stage, set_stage
from cli.demo.totals import audit, rows, totals
from cli.local.claim import Claimed
from cli.local.processes import StartFailed
from cli.local.stack import running_stack

LATENCY_MS = 150
"""How long the mock vendor thinks; real models take longer, which only the clock would notice."""

FOLDER = Path(".local/demo")
INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended."""


def demo(
    dir: Annotated[Path, typer.Option(help="Folder of its private stack.")] = FOLDER,  # noqa: A002
) -> None:
    """Run the whole pipeline on this machine, show what it does, check what it promises."""
    screen = Screen(console())
    screen.line("Tidegate: a demonstration", "bold")
    screen.paragraph(
        "Emulated AWS with the real CDK application deployed to it, a real Redis, and a mock "
        "vendor that speaks OpenAI's, Anthropic's and Cohere's APIs. Nothing leaves this machine."
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a CI job that is cancelled
    try:
        kept = _perform(screen, dir)
    except (Claimed, StartFailed) as error:
        screen.line(str(error), "bold red")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        screen.line("Interrupted; everything has been stopped.")
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(0 if kept else 1)


def _perform(screen: Screen, folder: Path) -> bool:
    """Play everything; return whether all was as promised."""
    played: dict[str, tuple[Check, ...]] = {}
    own = folder / "catalogue.toml"
    folder.mkdir(parents=True, exist_ok=True)
    own.write_text(OVERLAY, encoding="utf-8")
    running = running_stack(folder, latency_ms=LATENCY_MS, overlay=own, report=screen.step)
    with screen.under_way(), running as up:
        begun = time.monotonic()
        with set_stage(up, screen.progress) as stage:
            for number, act in enumerate(ACTS, 1):
                screen.heading(number, len(ACTS), act)
                played[act.title] = _played(screen, stage, act)
            found = totals(stage)
        screen.summary(rows(found))
        screen.line("The books", "bold")
        played["The books"] = audit(found)
        screen.checks(played["The books"])
        took = time.monotonic() - begun
        screen.step("stopping the stack")
    return _verdict(screen, played, took)


def _played(screen: Screen, stage: Stage, act: Act) -> tuple[Check, ...]:
    """Play one act and show it; one that breaks off is a check that does not hold."""
    begun = time.monotonic()
    try:
        facts = act.play(stage)
    except (Unfinished, httpx.HTTPError, ClientError, BotoCoreError) as error:
        facts = Facts((Check("played to its end", f"no: {type(error).__name__}: {error}", "yes"),))
        stage.vendor.behave()
    screen.facts(facts, time.monotonic() - begun)
    return facts.checks


def _verdict(screen: Screen, played: Mapping[str, tuple[Check, ...]], took: float) -> bool:
    """Write the last lines; return whether every check holds."""
    checks = [check for found in played.values() for check in found]
    wrong = [f"{title}: {c}" for title, found in played.items() for c in found if not c.holds]
    screen.line("")
    if wrong:
        screen.line(f"{len(wrong)} of {len(checks)} checks failed:", "bold red")
        for line in wrong:
            screen.line(f"  ✗ {line}", "red")
        return False
    screen.line(f"All {len(checks)} checks hold; the acts took {took:.0f} s.", "bold green")
    screen.line("`make up` starts such a stack and leaves it running for you to try.")
    return True
