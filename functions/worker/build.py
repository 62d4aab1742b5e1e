"""How a worker's doors fit together."""

from __future__ import annotations

from tidegate.clock import Clock, Ids
from tidegate.doors import clients
from tidegate.doors.assets import Assets
from tidegate.doors.attempts import Attempts
from tidegate.doors.cache import Cache
from tidegate.doors.dynamo import Table
from tidegate.doors.jobs import Jobs
from tidegate.doors.lease import Lease
from tidegate.doors.pace import Pace
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.doors.secrets import Secret
from tidegate.doors.valkey import Valkey
from tidegate.flows.finish import Finish
from tidegate.flows.vendor_call import VendorDesk
from tidegate.flows.work import Doors
from tidegate.rules.catalogue import Entry
from tidegate.settings import WorkerSettings
from tidegate.telemetry import Telemetry
from tidegate.vendors.base import Vendor
from tidegate.vendors.registry import build as build_vendor


def build(settings: WorkerSettings, entry: Entry, clock: Clock, ids: Ids, valkey: Valkey) -> Doors:
    """Return the doors of one model's worker, its vendor's included."""
    secret = Secret(clients.secretsmanager(), settings.vendor_secret, clock)
    vendor = build_vendor(entry, settings.vendor_base_url, secret, clock)
    return assemble(settings, entry, clock, ids, valkey, vendor)


def assemble(
    settings: WorkerSettings,
    entry: Entry,
    clock: Clock,
    ids: Ids,
    valkey: Valkey,
    vendor: Vendor,
) -> Doors:
    """Return the doors of one model's worker around a vendor."""
    telemetry = Telemetry("worker", settings.environment)
    s3 = clients.s3()
    payloads = Payloads(s3, settings.assets_bucket)
    jobs = Jobs(Table(clients.dynamodb(), settings.jobs_table, clock, ids), payloads)
    attempts = Attempts(jobs, payloads)
    queue = Queue(clients.sqs())
    cache = Cache(valkey)
    finish = Finish(
        jobs=jobs,
        attempts=attempts,
        cache=cache,
        queue=queue,
        queue_url=settings.queue_url,
        dlq_url=settings.dlq_url,
        quarantine_url=settings.quarantine_url,
        clock=clock,
        ids=ids,
        telemetry=telemetry,
    )
    return Doors(
        jobs=jobs,
        attempts=attempts,
        queue=queue,
        queue_url=settings.queue_url,
        cache=cache,
        lease=Lease(valkey),
        pace=Pace(valkey, settings.model, entry.in_flight),
        desk=VendorDesk(jobs, vendor, Assets(s3, settings.assets_bucket), clock, telemetry),
        finish=finish,
        clock=clock,
        ids=ids,
        telemetry=telemetry,
    )
