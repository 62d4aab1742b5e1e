"""The line of a model: which jobs wait, and which partner's turn it is.

A message says that there is work; whose work is done next says the line. It is a hint: every job
has its own message besides, and is asked for in DynamoDB before anything is done.
"""

from __future__ import annotations

from tidegate.clock import Ids
from tidegate.doors.valkey import Valkey
from tidegate.rules.job import Job, Lane

LIFE = 86_400_000
"""Milliseconds the line is kept after the last job joined it."""

LOOKS = 32
"""Partners looked at for one turn, at most: the script stays short."""


class Line:
    """The jobs that wait, of every model and lane."""

    def __init__(self, valkey: Valkey, ids: Ids) -> None:
        self._valkey = valkey
        self._ids = ids

    def join(self, job: Job) -> int:
        """Put a job into its partner's line; return how many jobs come before it, roughly.

        Raises:
            CacheUnavailable: Redis is out of reach; the job's own message is enough.
        """
        key = _key("line", job.model, job.priority)
        return int(self._valkey.run("line_join", [key], [_member(job), LIFE, job.partner]))

    def turn(self, job: Job, cap: int) -> str | None:
        """Return the id of another partner's job whose turn comes first, or None.

        Partners take turns. One with `cap` calls in flight stands behind those with fewer; where
        nobody else waits it goes on: its cap is lent. Both jobs leave the line.

        Raises:
            CacheUnavailable: Redis is out of reach; then each message is about its own job.
        """
        keys = [_key(name, job.model, job.priority) for name in ("line", "turn")]
        keys.append(f"tg:{{{job.model}}}:calls")
        asking = self._ids.token()  # what is said again because no reply came is said once
        args: list[str | int] = [_member(job), job.partner, cap, LOOKS, LIFE, asking]
        member = self._valkey.run("line_turn", keys, args)
        return str(member).rpartition("/")[2] or None

    def leave(self, job: Job) -> None:
        """Take a job out of the line that waits no more.

        Raises:
            CacheUnavailable: Redis is out of reach; whoever is given its turn finds out.
        """
        self._valkey.remove(_key("line", job.model, job.priority), _member(job))

    def waiting(self, job: Job) -> int:
        """Return how many jobs of the same partner wait beside this one.

        Raises:
            CacheUnavailable: Redis is out of reach.
        """
        key = _key("line", job.model, job.priority)
        # '0' is the character after '/'.
        return self._valkey.count_between(key, f"[{job.partner}/", f"({job.partner}0")


def _key(name: str, model: str, lane: Lane) -> str:
    return f"tg:{{{model}}}:{name}" + ("-low" if lane == "low" else "")


def _member(job: Job) -> str:
    return f"{job.partner}/{round(job.enqueued_at * 1000):014d}/{job.id}"
