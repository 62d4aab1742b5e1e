"""How the api's doors fit together."""

from __future__ import annotations

from api.routes import Api
from tidegate.clock import Clock, Ids
from tidegate.doors import clients
from tidegate.doors.assets import Assets
from tidegate.doors.cache import Cache
from tidegate.doors.claims import Claims
from tidegate.doors.dynamo import Table
from tidegate.doors.jobs import Jobs
from tidegate.doors.payloads import Payloads
from tidegate.doors.queue import Queue
from tidegate.doors.valkey import Valkey
from tidegate.flows.accept import Doors
from tidegate.rules.catalogue import Catalogue
from tidegate.settings import ApiSettings
from tidegate.telemetry import Telemetry


def build(
    settings: ApiSettings, catalogue: Catalogue, clock: Clock, ids: Ids, valkey: Valkey
) -> Api:
    """Return what the routes need."""
    s3 = clients.s3()
    payloads = Payloads(s3, settings.assets_bucket)
    table = Table(clients.dynamodb(), settings.jobs_table, clock, ids)
    doors = Doors(
        jobs=Jobs(table, payloads),
        claims=Claims(table, payloads),
        cache=Cache(valkey),
        queue=Queue(clients.sqs()),
        queue_url_prefix=settings.queue_url_prefix,
        clock=clock,
        ids=ids,
        telemetry=Telemetry("api", settings.environment),
    )
    return Api(doors, Assets(s3, settings.assets_bucket), catalogue, settings.public_url)
