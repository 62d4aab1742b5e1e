"""Where accepted jobs wait: the queue of their model and lane, and their partner's line."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.doors.line import Line
from tidegate.doors.queue import Queue
from tidegate.errors import QueueFull
from tidegate.flows.only_helps import only_helps
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job
from tidegate.telemetry import Telemetry

FULL_WAIT = 30
"""Seconds after which a partner whose jobs fill their share of a queue may ask again."""


@dataclass(frozen=True, slots=True)
class WaitingRoom:
    """How a job gets into its queue."""

    queue: Queue
    url_prefix: str
    line: Line
    telemetry: Telemetry

    def enter(self, job: Job, entry: Entry) -> None:
        """Return if one more job of this partner may wait; without Redis, any may.

        Raises:
            QueueFull: as many of them wait for the model as may.
        """
        waiting = 0
        with only_helps(self.telemetry, job.model):
            waiting = self.line.waiting(job)
        if waiting >= entry.shares.queued:
            raise QueueFull(
                f"{waiting} of your jobs wait for {job.model}, as many as may; post again later",
                retry_after=FULL_WAIT,
            )

    def send(self, job: Job) -> None:
        """Let a job stand in line, and send its message; twice is harmless."""
        with only_helps(self.telemetry, job.model):  # first, or a quick worker meets a stale entry
            self.line.join(job)
        self.queue.send(self.url_prefix + job.queue, job.id, job.partner)
