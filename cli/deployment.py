"""Which deployment a command means: what every operator's command is told."""

from __future__ import annotations

from typing import Annotated

import typer

Env = Annotated[str, typer.Option(help="Environment: dev, staging, prod.")]
Region = Annotated[str | None, typer.Option(help="AWS region, if not your default.")]
Endpoint = Annotated[str | None, typer.Option(help="AWS endpoint, for an emulator.")]
