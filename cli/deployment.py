"""Which deployment a command means: what every operator's command is told."""

from __future__ import annotations

from typing import Annotated

import typer

from tidegate.rules.ids import is_model_name

Env = Annotated[str, typer.Option(help="Environment: dev, staging, prod.")]
Region = Annotated[str | None, typer.Option(help="AWS region, if not your default.")]
Endpoint = Annotated[str | None, typer.Option(help="AWS endpoint, for an emulator.")]


def model_named(model: str | None) -> str | None:
    """Return a model's name as it was given.

    Raises:
        BadParameter: no model can be called so.
    """
    if model is not None and not is_model_name(model):
        raise typer.BadParameter(f"{model[:60]!r} is no model's name")
    return model
