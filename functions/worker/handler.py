"""One model's worker: builds the doors, works on each message, answers which come back.

An operator invokes it too, to pause its model or resume it: it is where the model's pace is kept.
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
from tidegate.rules import catalogue
from tidegate.settings import WorkerSettings
from worker.build import build

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def _worker() -> tuple[Doors, catalogue.Entry]:
    settings, clock = WorkerSettings.of(os.environ), SystemClock()
    entries = catalogue.load(Path(str(files("catalogue"))), settings.environment).models
    entry = entries[settings.model]
    return build(settings, entry, clock, SystemIds(), valkey.connect(settings.redis, clock)), entry


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the ids of the messages that are not done (SQS `ReportBatchItemFailures`)."""
    return handle(event, context, *_worker())


def handle(
    event: dict[str, Any], context: LambdaContext, doors: Doors, entry: catalogue.Entry
) -> dict[str, Any]:
    """Return the ids of the messages that are not done, after working on each."""
    if "Records" not in event:
        return _switched(event, doors)
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
            doors.telemetry.warn("message_failed", reason=type(error).__name__)
            doors.telemetry.count("MessageFailures")
            failures.append({"itemIdentifier": message.id})
    doors.telemetry.flush()
    return {"batchItemFailures": failures}


def _switched(event: dict[str, Any], doors: Doors) -> dict[str, Any]:
    """Return what became of an operator's request, or `error`: what is wrong with it."""
    from tidegate.flows.switch import switch
    from tidegate.rules.switch_request import parse

    doors.telemetry.fresh()
    pacing = doors.pacing
    try:
        request = parse(event)
    except RequestRefused as error:
        return {"error": {"code": error.code, "message": str(error)}}
    now = doors.clock.now()
    try:
        return switch(request, doors.model, pacing.switches, pacing.pace, now, doors.telemetry)
    finally:
        doors.telemetry.flush()


def _remaining(context: LambdaContext) -> float:
    """Return the seconds until Lambda ends this invocation; zero means zero."""
    return context.get_remaining_time_in_millis() / 1000
