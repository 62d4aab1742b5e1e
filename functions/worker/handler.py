"""One model's worker: builds the doors, works on each message, answers which come back.

An operator invokes it too, to pause its model or resume it, or to declare cached answers void: it
reaches what these are kept in.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import SystemClock, SystemIds
from tidegate.doors import valkey
from tidegate.doors.queue import message_of
from tidegate.errors import RequestRefused, TidegateError
from tidegate.flows.work import Doors, work
from tidegate.log_guard import guarded
from tidegate.rules import catalogue
from tidegate.settings import WorkerSettings
from worker.build import build

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def _worker() -> tuple[Doors, catalogue.Entry]:
    settings, clock = WorkerSettings.of(os.environ), SystemClock()
    models = catalogue.load(Path(str(files("catalogue"))), settings.environment)
    doors = build(settings, models, clock, SystemIds(), valkey.connect(settings.redis, clock))
    return doors, models.models[settings.model]


@guarded()
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the ids of the messages that are not done (SQS `ReportBatchItemFailures`)."""
    return handle(event, context, *_worker())


def handle(
    event: Any, context: LambdaContext, doors: Doors, entry: catalogue.Entry
) -> dict[str, Any]:
    """Return the ids of the messages that are not done, after working on each."""
    if not isinstance(event, dict) or "Records" not in event:
        return _done_for_operator(event, doors)
    failures = []
    for record in event["Records"]:
        message = message_of(record)
        try:
            outcome = work(message, entry, doors, lambda: _remaining(context))
            if outcome.hand_back_after is not None:
                url = doors.url_of(message)
                doors.queue.hand_back(url, message.receipt, outcome.hand_back_after)
                failures.append({"itemIdentifier": message.id})
        except (TidegateError, ClientError, BotoCoreError) as error:
            # Not acknowledged: it comes back after the visibility timeout.
            doors.telemetry.failed("message_failed", error)
            doors.telemetry.count("MessageFailures")
            failures.append({"itemIdentifier": message.id})
    doors.telemetry.flush()
    return {"batchItemFailures": failures}


def _done_for_operator(event: Any, doors: Doors) -> dict[str, Any]:
    """Return what became of an operator's request, or `error`: what is wrong with it."""
    doors.telemetry.fresh()
    try:
        if isinstance(event, dict) and "invalidate" in event:
            return _invalidated(event, doors)
        return _switched(event, doors)
    except RequestRefused as error:
        return {"error": {"code": error.code, "message": str(error)}}
    finally:
        doors.telemetry.flush()


def _switched(event: Any, doors: Doors) -> dict[str, Any]:
    from tidegate.flows.switch import switch
    from tidegate.rules.switch_request import parse

    pacing, now = doors.pacing, doors.clock.now()
    request = parse(event)
    return switch(request, doors.model, pacing.switches, pacing.pace, now, doors.telemetry)


def _invalidated(event: dict[str, Any], doors: Doors) -> dict[str, Any]:
    from tidegate.flows.invalidate import invalidate
    from tidegate.rules.invalidate_request import parse

    request = parse(event, doors.model)
    return invalidate(request, doors.epochs, doors.clock.now(), doors.telemetry)


def _remaining(context: LambdaContext) -> float:
    """Return the seconds until Lambda ends this invocation; zero means zero."""
    return context.get_remaining_time_in_millis() / 1000
