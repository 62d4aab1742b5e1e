"""The command's tree; each subcommand's story is told in the module it calls."""

from __future__ import annotations

import typer

from cli import cache, dlq, ledger, models, partners, quarantine, references
from cli.demo.command import demo
from cli.local import commands as local

app = typer.Typer(
    help="Operate Tidegate: run it locally, and look after a deployed one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.command()(demo)
app.add_typer(local.app, name="local")
app.add_typer(partners.app, name="partners")
app.add_typer(dlq.app, name="dlq")
app.add_typer(ledger.app, name="ledger")
app.add_typer(models.app, name="models")
app.add_typer(cache.app, name="cache")
app.add_typer(references.app, name="references")
app.add_typer(quarantine.app, name="quarantine")
