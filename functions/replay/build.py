"""How the replay function's doors fit together."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.clock import Clock, Ids
from tidegate.doors import clients
from tidegate.doors.dlq import DeadLetters
from tidegate.doors.dynamo import Table
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.doors.ledger import Ledger
from tidegate.doors.payloads import Payloads
from tidegate.doors.quarantine import Quarantine
from tidegate.doors.queue import Queue
from tidegate.flows import quarantine
from tidegate.flows.replay import Doors
from tidegate.settings import RepairSettings
from tidegate.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class Operator:
    """What an operator reaches through the replay function."""

    replay: Doors
    quarantine: quarantine.Doors


def build(settings: RepairSettings, clock: Clock, ids: Ids) -> Operator:
    """Return the replay function's doors."""
    dynamodb, sqs = clients.dynamodb(), clients.sqs()
    return assemble(
        settings, clock, Telemetry("replay", settings.environment),
        table=Table(dynamodb, settings.jobs_table, clock, ids),
        ledger=Ledger(Table(dynamodb, settings.ledger_table, clock, ids)),
        payloads=Payloads(clients.s3(), settings.assets_bucket),
        queue=Queue(sqs, clock), dead_letters=DeadLetters(sqs),
    )  # fmt: skip


def assemble(
    settings: RepairSettings,
    clock: Clock,
    telemetry: Telemetry,
    *,
    table: Table,
    ledger: Ledger,
    payloads: Payloads,
    queue: Queue,
    dead_letters: DeadLetters,
) -> Operator:
    """Return the replay function's doors around the doors to the outside."""
    jobs = Jobs(table, payloads)
    endings = Endings(jobs, payloads, ledger)
    replay = Doors(
        jobs=jobs,
        endings=endings,
        queue=queue,
        dead_letters=dead_letters,
        queue_url_prefix=settings.queue_url_prefix,
        dlq_url=settings.dlq_url,
        clock=clock,
        telemetry=telemetry,
    )
    deciding = quarantine.Doors(
        jobs=jobs,
        endings=endings,
        quarantine=Quarantine(table, payloads),
        queue=queue,
        dead_letters=dead_letters,
        quarantine_url=settings.quarantine_url,
        queue_url_prefix=settings.queue_url_prefix,
        clock=clock,
        telemetry=telemetry,
    )
    return Operator(replay, deciding)
