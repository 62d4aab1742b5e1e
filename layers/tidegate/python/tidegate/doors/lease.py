"""The lease on a job key: saves work, never decides. What decides is the fence in DynamoDB."""

from __future__ import annotations

from tidegate.doors.valkey import Valkey, positive_millis


class Lease:
    """Who works on a job key, by token, for a limited time."""

    def __init__(self, valkey: Valkey) -> None:
        self._valkey = valkey

    def take(self, job_key: str, token: str, seconds: float) -> float:
        """Return 0 if the lease is ours now, else the seconds the other's has left.

        Raises:
            CacheUnavailable: Redis is out of reach.
            ValueError: `seconds` is not positive.
        """
        taken, millis = self._valkey.run(
            "lease_take", [_key(job_key)], [token, positive_millis(seconds)]
        )
        return 0.0 if taken else max(int(millis), 1) / 1000

    def release(self, job_key: str, token: str) -> None:
        """Let go, if it is still ours.

        Raises:
            CacheUnavailable: Redis is out of reach; the lease ends by itself.
        """
        self._valkey.run("lease_release", [_key(job_key)], [token])


def _key(job_key: str) -> str:
    return f"tg:{{{job_key}}}:lease"
