"""What an experiment shows at its end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table as Grid

from bench.deployed.audit import Audit


def console() -> Console:
    """Return where figures go; a log, too, has room for a table."""
    return Console() if sys.stdout.isatty() else Console(width=120)


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; its first column are names, the others figures."""
    table = Grid(title=title, title_justify="left", min_width=len(title))
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(f"{v:.1f}" if isinstance(v, float) else str(v) for v in row))
    console().print(table)


def conclude(audit: Audit, longest: float | None = None) -> None:
    """Print the audit."""
    calls = ", ".join(f"{works} works had {n}" for n, works in audit.calls_per_work.items())
    rows: list[tuple[str, object]] = [
        ("lost / doubled / stuck", f"{audit.lost} / {audit.doubled} / {audit.stuck}"),
        ("of requests accepted", audit.accepted),
        ("jobs", f"{audit.jobs}, {audit.refreshes} of them refreshes"),
        ("ends", ", ".join(f"{number} {end}" for end, number in audit.ends.items())),
        ("final jobs not settled exactly once", audit.unsettled),
        ("vendor calls", f"{audit.vendor_calls} ({audit.mean_calls:.2f} per job: {calls})"),
        ("balances other than their entries", audit.differences),
        ("tidegate ledger verify", audit.ledger_verify),
    ]
    if longest is not None:
        rows.append(("longest recovery", f"{longest:.1f} s"))
    grid("Audit", ("", ""), rows)
    for remark in audit.remarks:
        console().print(f"  {remark}", style="red", markup=False)
