"""Repair, once a minute: builds the doors, sweeps, says what was done."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweeper.build import build
from tidegate.clock import SystemClock, SystemIds
from tidegate.flows.sweep import Doors, sweep
from tidegate.log_guard import guarded
from tidegate.rules import catalogue
from tidegate.settings import RepairSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def _sweeper() -> tuple[Doors, catalogue.Catalogue]:
    settings = RepairSettings.of(os.environ)
    entries = catalogue.load(Path(str(files("catalogue"))), settings.environment)
    return build(settings, entries, SystemClock(), SystemIds()), entries


@guarded()
def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Return how many jobs each repair was done to; the event (EventBridge's) says nothing."""
    return handle(context, *_sweeper())


def handle(context: LambdaContext, doors: Doors, entries: catalogue.Catalogue) -> dict[str, int]:
    """Return how many jobs each repair was done to."""
    doors.telemetry.fresh()
    done = sweep(doors, entries, lambda: context.get_remaining_time_in_millis() / 1000)
    doors.telemetry.fresh()
    doors.telemetry.info("swept", **done)
    doors.telemetry.flush()
    return dict(done)
