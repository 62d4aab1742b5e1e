"""How the sweeper's doors fit together."""

from __future__ import annotations

from tidegate.clock import Clock, Ids
from tidegate.doors import clients
from tidegate.doors.due import Due
from tidegate.doors.dynamo import Table
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.doors.ledger import Ledger
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.flows.ends import Ends
from tidegate.flows.sweep import Doors
from tidegate.rules.catalogue import Catalogue
from tidegate.settings import RepairSettings
from tidegate.telemetry import Telemetry


def build(settings: RepairSettings, catalogue: Catalogue, clock: Clock, ids: Ids) -> Doors:
    """Return the sweeper's doors."""
    dynamodb = clients.dynamodb()
    return assemble(
        settings, catalogue, clock, Telemetry("sweeper", settings.environment),
        table=Table(dynamodb, settings.jobs_table, clock, ids),
        ledger=Ledger(Table(dynamodb, settings.ledger_table, clock, ids)),
        payloads=Payloads(clients.s3(), settings.assets_bucket),
        queue=Queue(clients.sqs(), clock),
    )  # fmt: skip


def assemble(
    settings: RepairSettings,
    catalogue: Catalogue,
    clock: Clock,
    telemetry: Telemetry,
    *,
    table: Table,
    ledger: Ledger,
    payloads: Payloads,
    queue: Queue,
) -> Doors:
    """Return the sweeper's doors around the doors to the outside."""
    jobs = Jobs(table, payloads)
    endings = Endings(jobs, payloads, ledger)
    return Doors(
        due=Due(table),
        jobs=jobs,
        endings=endings,
        ends={
            model: Ends(
                endings, queue, settings.dlq_url(model), settings.quarantine_url, clock, telemetry
            )
            for model in catalogue.models
        },
        queue=queue,
        queue_url_prefix=settings.queue_url_prefix,
        clock=clock,
        telemetry=telemetry,
    )
