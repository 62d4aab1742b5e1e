"""Stories of an operator's commands, each said twice as one does who hears nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from tests.contract.world import PARTNER, World
from tidegate.doors import clients
from tidegate.doors.dynamo import Table
from tidegate.doors.partners import KeyRecord, Partners
from tidegate.rules.partner_key import PartnerKey, digest

KEY, OTHER_KEY = PartnerKey("k" * 16, "s" * 32), PartnerKey("m" * 16, "s" * 32)


def credited(world: World) -> None:
    """An operator gives credits, and gives them again because nothing was heard."""
    for _ in range(2):
        world.operate(lambda: world.ledger.credit(PARTNER, "gift", 5, world.clock.now()))


def key_made(world: World) -> None:
    """An operator stores a partner's key, and again; it is that partner's."""
    partners = _partners(world)
    for _ in range(2):
        world.operate(lambda: partners.add_key(PARTNER, KEY, world.clock.now()))
    with world.wire.unwatched():
        assert partners.find_key(KEY.key_id) == KeyRecord(PARTNER, digest(KEY.secret), active=True)


def limited(world: World) -> None:
    """An operator gives a partner a limit of its own and takes it away, each said twice."""
    partners, keys = _partners(world), (KEY, OTHER_KEY)
    with world.wire.unwatched():
        for key in keys:
            partners.add_key(PARTNER, key, world.clock.now())
    for limit in (7, None):
        for _ in range(2):
            world.operate(partial(partners.set_limit, PARTNER, limit))
        with world.wire.unwatched():
            found = [partners.find_key(key.key_id) for key in keys]
            assert [record and record.requests_per_minute for record in found] == [limit, limit]
            assert partners.limit(PARTNER) == limit


def _partners(world: World) -> Partners:
    return Partners(Table(clients.dynamodb(), "partners", world.clock, world.ids))


def raises(code: str, words: str) -> Callable[[str, dict[str, Any]], Any]:
    """Return a worker that cannot be invoked: AWS says so, and why."""

    def answers(_model: str, _event: object) -> Any:
        error: Any = {"Error": {"Code": code, "Message": words}}
        raise ClientError(error, "Invoke")

    return answers
