"""The pace of a model: how many calls are with the vendor at once, for the whole fleet."""

from __future__ import annotations

from tidegate.doors.valkey import Valkey, positive_millis


class Pace:
    """Places among the calls in flight of one model."""

    def __init__(self, valkey: Valkey, model: str, places: int) -> None:
        self._valkey = valkey
        self._key = f"tg:{{{model}}}:calls"
        self._places = places

    def take(self, reservation: str, seconds: float) -> float:
        """Return 0 if a call may start now, else seconds until a place is free at the latest.

        Raises:
            CacheUnavailable: Redis is out of reach: then nobody may call.
        """
        taken, millis = self._valkey.run(
            "pace_take", [self._key], [reservation, self._places, positive_millis(seconds)]
        )
        return 0.0 if taken else max(int(millis), 1) / 1000

    def give_back(self, reservation: str) -> None:
        """Free the place; twice is once.

        Raises:
            CacheUnavailable: Redis is out of reach; the place comes back by its end.
        """
        self._valkey.forget(self._key, reservation)
