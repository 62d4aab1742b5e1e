"""What the sweeper must look at: jobs by the time they are due, paged through to the end."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.doors.dynamo import Table
from tidegate.doors.items import SHARDS, millis


class Due:
    """Index `due` of the jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def jobs(self, now: float) -> Iterator[str]:
        """Yield the ids of jobs that are due, as far as the index knows; each is to be read."""
        for shard in range(SHARDS):
            for item in self._table.due(str(shard), millis(now)):
                yield item["pk"].partition("#")[2]
