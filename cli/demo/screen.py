"""How the demo looks: live on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from textwrap import wrap

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from cli.demo.facts import Check, Facts
from cli.demo.stage import Act

WIDEST = 100
"""Columns of a paragraph, and of a log, where there is no terminal to ask."""

INDENT = " " * 5

WHAT = 56
"""Columns of what a check looked at."""


@dataclass
class Screen:
    """Writes to one console."""

    console: Console
    _live: Progress | None = None
    _act: str = ""
    _begun: float = field(default_factory=time.monotonic)

    def line(self, text: str, style: str = "") -> None:
        """Write one line as it is."""
        self.console.print(Text(text, style=style), soft_wrap=True)

    def paragraph(self, text: str, style: str = "dim") -> None:
        """Write a wrapped and indented paragraph."""
        for line in wrap(text, max(30, min(self.console.width, WIDEST) - len(INDENT))):
            self.line(INDENT + line, style)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Show what is under way, on a terminal, until the block ends."""
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        ) as live:
            live.add_task("", total=None, count="")
            self._live = live
            try:
                yield
            finally:
                self._live = None

    def progress(self, what: str, done: int, total: int) -> None:
        """Say what is under way and how much of it is done, if known; silent in a log."""
        if self._live is not None:
            self._live.update(
                self._live.task_ids[0],
                description=f"{self._act}{what}",
                completed=done,
                total=total or None,
                count=f"{done}/{total}" if total else "",
            )

    def step(self, what: str) -> None:
        """Write a step of the set-up."""
        self.progress(what, 0, 0)
        self.line(f"     {time.monotonic() - self._begun:5.1f} s  {what}", "dim")

    def heading(self, number: int, total: int, act: Act) -> None:
        """Announce an act."""
        self._act = f"{number}/{total}  "
        self.console.print()
        self.line(f"{self._act}{act.title}", "bold")
        self.paragraph(act.story)

    def facts(self, facts: Facts, seconds: float) -> None:
        """Write what an act found."""
        for note in facts.notes:
            self.line(f"{INDENT}· {note}")
        self.checks(facts.checks)
        self.line(f"       {seconds:.1f} s", "dim")

    def checks(self, checks: tuple[Check, ...]) -> None:
        """Write checks, each with whether it holds."""
        holds, fails = "✓✗" if self.console.encoding.startswith("utf") else "+x"
        for check in checks:
            mark, style = (holds, "green") if check.holds else (fails, "bold red")
            text = Text(f"{INDENT}{mark} ", style).append(f"{check.what:<{WHAT}} ", "default")
            self.console.print(text.append(check.outcome, style), soft_wrap=True)

    def summary(self, sections: Mapping[str, Mapping[str, str]]) -> None:
        """Write the table of everything."""
        table = Table(box=box.ROUNDED, show_header=False, title="What happened")
        table.title_style, table.title_justify = "bold", "left"
        table.add_column(style="bold cyan")
        table.add_column(min_width=34)
        table.add_column(justify="right", min_width=12)
        for section, rows in sections.items():
            for number, (what, figure) in enumerate(rows.items()):
                table.add_row("" if number else section, what, figure)
            table.add_section()
        self.console.print()
        self.console.print(table)


def console() -> Console:
    """Return the console of standard output."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # rather a ? in a log than a traceback
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=WIDEST)
