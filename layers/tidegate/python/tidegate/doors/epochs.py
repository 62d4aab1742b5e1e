"""Epochs: when the answers of a model, of a partner, or of both were last declared void.

They are part of the job key, so an answer of before is never looked for again; nothing is scanned,
nothing deleted. DynamoDB decides (item `epoch#<whose>`, sk `epoch`); Redis has copies that live
minutes, so that a request learns them in the round trip it makes anyway.

tg:{epochs}:model:<model>             milliseconds since the epoch; 0: never
            partner:<partner>
            both:<model>/<partner>
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.doors.actions import put
from tidegate.doors.dynamo import ConditionFailed, Table
from tidegate.doors.valkey import Valkey, Values
from tidegate.rules.epochs import Epochs

LIFE = 300_000
"""Milliseconds of a copy: the longest that an invalidation goes unseen whose copy was lost."""

REMEMBERED = 10_000
"""Pairs of model and partner a process remembers; beyond it begins anew."""


class EpochBook:
    """The epochs of all models and partners."""

    def __init__(self, table: Table, valkey: Valkey) -> None:
        self._table = table
        self._valkey = valkey
        self._known: dict[tuple[str, str], Epochs] = {}

    def known(self, model: str, partner: str) -> Epochs:
        """Return the epochs this process heard of last: a guess, that saves a round trip."""
        return self._known.get((model, partner), Epochs())

    def asking(self, model: str, partner: str) -> Values:
        """Return the question for the copies, to be asked in one round trip with others."""
        return Values(tuple(map(_key, _whose(model, partner))))

    def heard(self, model: str, partner: str, replies: Sequence[str | None]) -> Epochs | None:
        """Return the epochs in the replies; None if a copy is missing."""
        if any(reply is None for reply in replies):
            return None
        return self._remember(model, partner, Epochs(*(int(reply or 0) for reply in replies)))

    def read(self, model: str, partner: str) -> Epochs:
        """Return the epochs as DynamoDB has them."""
        items = [self._table.get(_pk(whose), "epoch") for whose in _whose(model, partner)]
        found = Epochs(*(0 if item is None else int(item["at"]) for item in items))
        return self._remember(model, partner, found)

    def copy(self, model: str, partner: str, epochs: Epochs) -> None:
        """Leave copies for everybody who asks Redis.

        Raises:
            CacheUnavailable: Redis is out of reach; they are read from DynamoDB until it is not.
        """
        keys = list(map(_key, _whose(model, partner)))
        self._valkey.run("epochs_raise", keys, [*epochs, LIFE])

    def begin(self, model: str | None, partner: str | None, at: int, by: str, why: str) -> int:
        """Begin a new epoch at `at` (milliseconds); return since when it holds. Twice is once.

        Raises:
            ValueError: neither a model nor a partner is named.
        """
        whose = _scope(model, partner)
        item = {"pk": _pk(whose), "sk": "epoch", "at": at, "by": by, "why": why}
        try:
            self._table.write([put(item, "attribute_not_exists(pk) OR #at < :at", {":at": at})])
        except ConditionFailed as failed:  # our own write, or a later one
            return int((failed.found[0] or {}).get("at", at))
        return at

    def tell(self, model: str | None, partner: str | None, at: int) -> None:
        """Leave a copy of one epoch.

        Raises:
            CacheUnavailable: Redis is out of reach; copies of before live `LIFE` at most.
        """
        self._valkey.run("epochs_raise", [_key(_scope(model, partner))], [at, LIFE])

    def _remember(self, model: str, partner: str, epochs: Epochs) -> Epochs:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[model, partner] = epochs
        return epochs


def _whose(model: str, partner: str) -> tuple[str, str, str]:
    return _scope(model, None), _scope(None, partner), _scope(model, partner)


def _scope(model: str | None, partner: str | None) -> str:
    if model is not None and partner is not None:
        return f"both:{model}/{partner}"
    if model is not None:
        return f"model:{model}"
    if partner is not None:
        return f"partner:{partner}"
    raise ValueError("whose answers? name a model, a partner, or both")


def _pk(whose: str) -> str:
    return f"epoch#{whose}"


def _key(whose: str) -> str:
    return f"tg:{{epochs}}:{whose}"
