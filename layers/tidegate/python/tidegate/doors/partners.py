"""Partners and their keys. The authorizer reads one item; the operator's command writes."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.doors.actions import put
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.rules.partner_key import PartnerKey, digest


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What is stored of an API key."""

    partner: str
    secret_sha256: str
    active: bool


class Partners:
    """The partners table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find_key(self, key_id: str) -> KeyRecord | None:
        """Return the record of a key id, or None."""
        item = self._table.get(f"key#{key_id}", "key")
        if item is None:
            return None
        return KeyRecord(item["partner"], item["secret_sha256"], item["status"] == "active")

    def add_key(self, partner: str, key: PartnerKey, now: float) -> None:
        """Store a new key of a partner; of the secret only its hash.

        Raises:
            ConditionFailed: another key has this id.
        """
        record = {
            "pk": f"key#{key.key_id}",
            "sk": "key",
            "partner": partner,
            "secret_sha256": digest(key.secret),
            "status": "active",
            "created_at": int(now),
        }
        owner = {"pk": f"partner#{partner}", "sk": f"key#{key.key_id}", "created_at": int(now)}
        try:
            self._table.write([put(record, "attribute_not_exists(pk)"), put(owner)])
        except ConditionFailed as failed:
            found = failed.found[0] or {}
            if found.get("secret_sha256") != record["secret_sha256"]:  # else: our own, reply lost
                raise
