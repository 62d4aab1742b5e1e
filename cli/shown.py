"""How commands show what they found: tables, moments, and what went wrong."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import NoReturn

import typer
from rich.console import Console

WIDE = 200
"""Columns of a table in a log, where there is no terminal to ask."""


def console() -> Console:
    """Return where tables are shown."""
    return Console() if sys.stdout.isatty() else Console(width=WIDE)


def moment(seconds: float) -> str:
    """Return a time since the epoch."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"


def wrong(sentence: str) -> NoReturn:
    """End the command, saying what was wrong."""
    typer.echo(sentence, err=True)
    raise typer.Exit(1)
