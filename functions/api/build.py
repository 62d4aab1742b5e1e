"""How the api's doors fit together."""

from __future__ import annotations

from api.replies import Api
from tidegate.clock import Clock, Ids
from tidegate.doors import clients
from tidegate.doors.assets import Assets
from tidegate.doors.cache import Cache
from tidegate.doors.claims import Claims
from tidegate.doors.dynamo import Table
from tidegate.doors.endings import Endings
from tidegate.doors.epochs import EpochBook
from tidegate.doors.jobs import Jobs
from tidegate.doors.ledger import Ledger
from tidegate.doors.line import Line
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.doors.rate import Rate
from tidegate.doors.sandbox import Sandbox
from tidegate.doors.valkey import Valkey
from tidegate.flows import at_hand, refresh
from tidegate.flows.acceptance import Doors
from tidegate.flows.waiting_room import WaitingRoom
from tidegate.rules.catalogue import Catalogue
from tidegate.settings import ApiSettings
from tidegate.telemetry import Telemetry


def build(
    settings: ApiSettings, catalogue: Catalogue, clock: Clock, ids: Ids, valkey: Valkey
) -> Api:
    """Return what the routes need."""
    s3, dynamodb = clients.s3(), clients.dynamodb()
    payloads = Payloads(s3, settings.assets_bucket)
    table = Table(dynamodb, settings.jobs_table, clock, ids)
    ledger = Ledger(Table(dynamodb, settings.ledger_table, clock, ids))
    telemetry = Telemetry("api", settings.environment)
    return assemble(
        settings, catalogue, clock, ids, telemetry,
        table=table, ledger=ledger, payloads=payloads, valkey=valkey,
        queue=Queue(clients.sqs(), clock), assets=Assets(s3, settings.assets_bucket),
    )  # fmt: skip


def assemble(
    settings: ApiSettings,
    catalogue: Catalogue,
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
) -> Api:
    """Return what the routes need, around the doors to the outside."""
    jobs, claims, cache = Jobs(table, payloads), Claims(table, payloads), Cache(valkey)
    waiting_room = WaitingRoom(queue, settings.queue_url_prefix, Line(valkey, ids), telemetry)
    doors = Doors(
        jobs=jobs,
        claims=claims,
        ledger=ledger,
        cache=cache,
        waiting_room=waiting_room,
        look=at_hand.Doors(
            valkey, cache, EpochBook(table, valkey), Rate(valkey), jobs, clock, telemetry, Sandbox()
        ),
        refresh=refresh.Doors(cache, claims, ledger, waiting_room, clock, ids, telemetry),
        clock=clock,
        ids=ids,
        telemetry=telemetry,
    )
    endings = Endings(jobs, payloads, ledger)
    return Api(doors, endings, assets, catalogue, settings.public_url)
