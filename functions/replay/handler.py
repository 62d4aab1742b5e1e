"""Replay, when an operator asks for it: builds the doors, does what is asked, tells what it did."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.build import build
from tidegate.clock import SystemClock, SystemIds
from tidegate.errors import RequestRefused
from tidegate.flows.replay import Doors, replay
from tidegate.rules import catalogue
from tidegate.rules.replay_request import parse
from tidegate.settings import RepairSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def _replay() -> tuple[Doors, catalogue.Catalogue]:
    settings = RepairSettings.of(os.environ)
    entries = catalogue.load(Path(str(files("catalogue"))), settings.environment)
    return build(settings, SystemClock(), SystemIds()), entries


def handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """Return what was found and done, or `error`: what is wrong with the event."""
    return handle(event, context, *_replay())


def handle(
    event: Any, context: LambdaContext, doors: Doors, entries: catalogue.Catalogue
) -> dict[str, Any]:
    """Return what was found and done, or `error`: what is wrong with the event."""
    doors.telemetry.fresh()
    try:
        request = parse(event, entries.models)
    except RequestRefused as error:
        doors.telemetry.warn("replay_not_understood", reason=error.code)
        return {"error": {"code": error.code, "message": str(error)}}
    try:
        answer = replay(request, doors, lambda: context.get_remaining_time_in_millis() / 1000)
        doors.telemetry.fresh()
        doors.telemetry.info(
            "replay_ended", action=answer.action, of=answer.model, dry_run=answer.dry_run,
            looked_at=answer.looked_at, selected=answer.selected, done=answer.done,
            more=answer.more,
        )  # fmt: skip
    finally:
        doors.telemetry.flush()
    return asdict(answer)
