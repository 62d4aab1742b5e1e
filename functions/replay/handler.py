"""Replay, when an operator asks for it: builds the doors, does what is asked, tells what it did."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.build import Operator, build
from tidegate.clock import SystemClock, SystemIds
from tidegate.errors import RequestRefused
from tidegate.flows.quarantine import decide
from tidegate.flows.replay import Doors, replay
from tidegate.log_guard import guarded
from tidegate.rules import catalogue, quarantine_request
from tidegate.rules.replay_request import ReplayRequest, parse
from tidegate.settings import RepairSettings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def _replay() -> tuple[Operator, catalogue.Catalogue]:
    settings = RepairSettings.of(os.environ)
    entries = catalogue.load(Path(str(files("catalogue"))), settings.environment)
    return build(settings, SystemClock(), SystemIds()), entries


@guarded()
def handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """Return what was found and done, or `error`: what is wrong with the event."""
    return handle(event, context, *_replay())


def handle(
    event: Any, context: LambdaContext, doors: Operator, entries: catalogue.Catalogue
) -> dict[str, Any]:
    """Return what was found and done, or `error`: what is wrong with the event."""
    telemetry = doors.replay.telemetry
    telemetry.fresh()

    def remaining() -> float:
        return context.get_remaining_time_in_millis() / 1000

    try:
        if isinstance(event, dict) and "quarantine" in event:
            asked = quarantine_request.parse(event)
            done = decide(asked, doors.quarantine, entries.models, remaining)
            return {"items": [asdict(each) for each in done]}
        return _replayed(parse(event, entries.models), doors.replay, remaining)
    except RequestRefused as error:
        telemetry.warn("replay_not_understood", reason=error.code)
        return {"error": {"code": error.code, "message": str(error)}}
    finally:
        telemetry.flush()


def _replayed(
    request: ReplayRequest, doors: Doors, remaining: Callable[[], float]
) -> dict[str, Any]:
    answer = replay(request, doors, remaining)
    doors.telemetry.fresh()
    doors.telemetry.info(
        "replay_ended", action=answer.action, of=answer.model, dry_run=answer.dry_run,
        looked_at=answer.looked_at, selected=answer.selected, done=answer.done, more=answer.more,
    )  # fmt: skip
    return asdict(answer)
