"""How a worker's doors fit together."""

from __future__ import annotations

from tidegate.clock import Clock, Ids
from tidegate.doors import clients
from tidegate.doors.assets import Assets
from tidegate.doors.attempts import Attempts
from tidegate.doors.cache import Cache
from tidegate.doors.dynamo import Table
from tidegate.doors.endings import Endings
from tidegate.doors.epochs import EpochBook
from tidegate.doors.jobs import Jobs
from tidegate.doors.lease import Lease
from tidegate.doors.ledger import Ledger
from tidegate.doors.line import Line
from tidegate.doors.pace import Pace
from tidegate.doors.payloads import Payloads
from tidegate.doors.quarantine import Quarantine
from tidegate.doors.queue import Queue
from tidegate.doors.references import References
from tidegate.doors.references import build as build_references
from tidegate.doors.sandbox import Sandbox
from tidegate.doors.secrets import Secret
from tidegate.doors.switches import Switches
from tidegate.doors.valkey import Valkey
from tidegate.flows.ends import Ends
from tidegate.flows.finish import Finish
from tidegate.flows.gatekeeping import Gate
from tidegate.flows.pacing import Pacing
from tidegate.flows.vendor_call import VendorDesk
from tidegate.flows.work import Doors
from tidegate.rules.catalogue import Catalogue, Entry
from tidegate.rules.job import queue_name
from tidegate.settings import WorkerSettings
from tidegate.telemetry import Telemetry
from tidegate.vendors.base import Vendor
from tidegate.vendors.registry import build as build_vendor


def build(
    settings: WorkerSettings, models: Catalogue, clock: Clock, ids: Ids, valkey: Valkey
) -> Doors:
    """Return the doors of one model's worker, its vendor's included."""
    entry = models.models[settings.model]
    secret = Secret(clients.secretsmanager(), settings.vendor_secret, clock)
    vendor = build_vendor(entry, settings.vendor_base_url, secret, clock)
    return connected(settings, models, clock, ids, valkey, vendor)


def connected(
    settings: WorkerSettings,
    models: Catalogue,
    clock: Clock,
    ids: Ids,
    valkey: Valkey,
    vendor: Vendor,
) -> Doors:
    """Return the doors of one model's worker around a vendor."""
    s3, dynamodb = clients.s3(), clients.dynamodb()
    name, secret = settings.references_table, settings.references_secret
    references = build_references(
        models.sources(settings.model),
        Table(dynamodb, name, clock, ids) if name else None,
        Secret(clients.secretsmanager(), secret, clock) if secret else None,
        clock,
    )
    return assemble(
        settings, models.models[settings.model], clock, ids,
        Telemetry("worker", settings.environment),
        table=Table(dynamodb, settings.jobs_table, clock, ids),
        ledger=Ledger(Table(dynamodb, settings.ledger_table, clock, ids)),
        payloads=Payloads(s3, settings.assets_bucket), valkey=valkey,
        queue=Queue(clients.sqs(), clock), assets=Assets(s3, settings.assets_bucket),
        vendor=vendor, references=references,
    )  # fmt: skip


def assemble(
    settings: WorkerSettings,
    entry: Entry,
    clock: Clock,
    ids: Ids,
    telemetry: Telemetry,
    *,
    table: Table,
    ledger: Ledger,
    payloads: Payloads,
    valkey: Valkey,
    queue: Queue,
    assets: Assets,
    vendor: Vendor,
    references: References,
) -> Doors:
    """Return the doors of one model's worker around the doors to the outside."""
    jobs = Jobs(table, payloads)
    attempts = Attempts(jobs, table)
    endings = Endings(jobs, payloads, ledger)
    cache = Cache(valkey)
    finish = Finish(
        jobs=jobs,
        attempts=attempts,
        endings=endings,
        ends=Ends(endings, queue, settings.dlq_url, settings.quarantine_url, clock, telemetry),
        cache=cache,
        gate=Gate(references, clock, telemetry, Sandbox()),
        quarantine=Quarantine(table, payloads),
        clock=clock,
        ids=ids,
        telemetry=telemetry,
    )
    return Doors(
        model=settings.model,
        jobs=jobs,
        attempts=attempts,
        queue=queue,
        queue_urls={
            queue_name(settings.model, "normal"): settings.queue_url,
            queue_name(settings.model, "low"): settings.low_queue_url,
        },
        cache=cache,
        epochs=EpochBook(table, valkey),
        lease=Lease(valkey),
        pacing=Pacing(
            model=settings.model,
            entry=entry,
            pace=Pace(valkey, settings.model, entry),
            line=Line(valkey, ids),
            switches=Switches(table),
            clock=clock,
            telemetry=telemetry,
        ),
        desk=VendorDesk(jobs, vendor, assets, clock, telemetry),
        finish=finish,
        clock=clock,
        ids=ids,
        telemetry=telemetry,
    )
