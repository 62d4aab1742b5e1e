"""Partners, their keys and limits. The authorizer reads one item; the operator's command writes.

A partner's own limit is on `partner#<id>` / `limits`, and copied to each of its keys for that one
read. A key is made only if the limit it copies still holds, and a limit is copied only while it
holds: whichever comes second sees the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.doors.actions import Action, check, delete, put, update
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.errors import Conflict
from tidegate.rules.partner_key import PartnerKey, digest

TURNS = 5
"""How often a key is made anew because the partner's limit changed meanwhile."""

_LIMIT = "requests_per_minute"


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What is stored of an API key."""

    partner: str
    secret_sha256: str
    active: bool
    requests_per_minute: int | None = None
    """The partner's own limit; None: what holds for every partner."""


class Partners:
    """The partners table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find_key(self, key_id: str) -> KeyRecord | None:
        """Return the record of a key id, or None."""
        item = self._table.get(f"key#{key_id}", "key")
        if item is None:
            return None
        return KeyRecord(
            item["partner"], item["secret_sha256"], item["status"] == "active", item.get(_LIMIT)
        )

    def key_ids(self, partner: str) -> Iterator[str]:
        """Yield the ids of a partner's keys, the revoked ones too."""
        for item in self._table.query(f"partner#{partner}", "key#", "key#~"):
            yield item["sk"].removeprefix("key#")

    def add_key(self, partner: str, key: PartnerKey, now: float) -> None:
        """Store a new key of a partner, with the partner's limit; of the secret only its hash.

        Raises:
            ConditionFailed: another key has this id.
            Conflict: the partner's limit kept changing.
        """
        for _ in range(TURNS):
            if self._added(partner, key, now, self.limit(partner)):
                return
        raise Conflict("the partner's limit kept being changed by others")

    def _added(self, partner: str, key: PartnerKey, now: float, limit: int | None) -> bool:
        record = {
            "pk": f"key#{key.key_id}",
            "sk": "key",
            "partner": partner,
            "secret_sha256": digest(key.secret),
            "status": "active",
            "created_at": int(now),
            _LIMIT: limit,
        }
        owner = {"pk": f"partner#{partner}", "sk": f"key#{key.key_id}", "created_at": int(now)}
        actions = [put(record, "attribute_not_exists(pk)"), put(owner)]
        try:
            self._table.write([*actions, _still(partner, limit)])
        except ConditionFailed as failed:
            found = failed.found[0]
            if found is None:  # it was the limit
                return False
            if found.get("secret_sha256") != record["secret_sha256"]:  # else: our own, reply lost
                raise
        return True

    def limit(self, partner: str) -> int | None:
        """Return a partner's own requests per minute; None: what holds for every partner."""
        item = self._table.get(f"partner#{partner}", "limits")
        return None if item is None else int(item[_LIMIT])

    def set_limit(self, partner: str, limit: int | None) -> int:
        """Give a partner requests per minute of its own, or None; return on how many keys it is.

        Broken off, it is done by doing it again; keys made meanwhile have it.

        Raises:
            Conflict: another limit was set at the same time; it may be on some of the keys.
        """
        here = f"partner#{partner}", "limits"
        kept = {"pk": here[0], "sk": here[1], _LIMIT: limit}
        self._table.write([delete(*here) if limit is None else put(kept)])
        keys = list(self.key_ids(partner))
        for key_id in keys:
            copy = update(f"key#{key_id}", "key", {_LIMIT: limit}, "attribute_exists(pk)")
            try:
                self._table.write([copy, _still(partner, limit)])
            except ConditionFailed as failed:
                if failed.found[1] is None:  # a key that was removed by hand
                    continue
                raise Conflict("another limit was set at the same time; set it again") from failed
        return len(keys)


def _still(partner: str, limit: int | None) -> Action:
    """Return the condition that a partner's own limit is this one."""
    here = f"partner#{partner}", "limits"
    if limit is None:
        return check(*here, "attribute_not_exists(pk)")
    return check(*here, f"#{_LIMIT} = :limit", {":limit": limit})
