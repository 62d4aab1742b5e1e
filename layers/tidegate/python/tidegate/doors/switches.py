"""An operator's switch of a model: kept in the job table, because a lost Redis must not undo it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tidegate.doors.actions import put
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.items import millis


@dataclass(frozen=True, slots=True)
class Switch:
    """Whether a model may be called; who said so, when (seconds since the epoch) and why."""

    off: bool = False
    until: float | None = None
    """When it turns on by itself; None: never."""
    by: str = ""
    why: str = ""
    at: float = 0.0


class Switches:
    """The switch of each model."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def read(self, model: str) -> Switch:
        """Return a model's switch; one that nobody touched is on."""
        item = self._table.get(_pk(model), "switch")
        if item is None:
            return Switch()
        until = item.get("until")
        return Switch(
            bool(item["off"]),
            None if until is None else until / 1000,
            item["by"],
            item["why"],
            item["at"] / 1000,
        )

    def turn(self, model: str, switch: Switch) -> None:
        """Set a model's switch, unless it was turned later already; twice is once."""
        item: dict[str, Any] = {
            "pk": _pk(model),
            "sk": "switch",
            "off": int(switch.off),
            "until": None if switch.until is None else millis(switch.until),
            "by": switch.by,
            "why": switch.why,
            "at": millis(switch.at),
        }
        with suppress(ConditionFailed):  # a repeated write, its reply lost, undoes no later one
            latest = "attribute_not_exists(pk) OR #at <= :at"
            self._table.write([put(item, latest, {":at": item["at"]})])


def _pk(model: str) -> str:
    return f"model#{model}"
