"""Ends that need no answer of a vendor: a worker's or the sweeper's, each one transaction."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.clock import Clock
from tidegate.doors.endings import Endings
from tidegate.doors.queue import Queue
from tidegate.errors import Retry
from tidegate.flows.outcome import ACKNOWLEDGED, HAND_BACK, Outcome
from tidegate.rules.job import Job, JobError, Status
from tidegate.telemetry import Telemetry

DIED = JobError(Retry.RETRYABLE, "starts_used_up", "every worker that began it died", "vendor")

LATE = JobError("deadline", "deadline_exceeded", "the deadline has passed", "queue")

NO_TIME = JobError(
    "deadline", "deadline_exceeded", "the vendor asks to wait beyond the deadline", "pace"
)


@dataclass(frozen=True, slots=True)
class Ends:
    """How a job ends without an answer, and where the copies go."""

    endings: Endings
    queue: Queue
    dlq_url: str
    quarantine_url: str
    clock: Clock
    telemetry: Telemetry

    def used_up(self, job: Job, why: JobError | None = None, *, message: bool = True) -> Outcome:
        """Dead-letter a job whose attempts are spent.

        Its message is handed back until the redrive policy moves it to the DLQ; where there is
        none in hand (`message` is false), a copy goes there.
        """
        ended = self.endings.end(
            job,
            Status.DEAD_LETTERED,
            why or job.error or DIED,
            now=self.clock.now(),
            owed=not message,
            bad_answer=why is not None,
        )
        if not message:
            self.copy(ended)
        return self.told(ended, HAND_BACK)

    def too_late(self, job: Job, why: JobError = LATE) -> Outcome:
        """End a job whose deadline has passed, or will before it can: it failed, or never began."""
        if job.started_at is not None:
            return self.for_good(job, why)
        ended = self.endings.end(job, Status.EXPIRED, why, now=self.clock.now())
        return self.told(ended, ACKNOWLEDGED)

    def for_good(self, job: Job, why: JobError) -> Outcome:
        """Fail a job; a copy with the reason goes to the DLQ."""
        ended = self.endings.end(job, Status.FAILED, why, now=self.clock.now(), owed=True)
        self.copy(ended)
        return self.told(ended, ACKNOWLEDGED)

    def copy(self, job: Job) -> None:
        """Send the copy that an ended job owes: twice is harmless, never is not."""
        quarantined = job.status is Status.QUARANTINED
        url = self.quarantine_url if quarantined else self.dlq_url
        self.queue.send_copy(url, job.id, job.partner, job.error.code if job.error else "")
        self.endings.copied(job)

    def told(self, job: Job, outcome: Outcome) -> Outcome:
        """Return `outcome`, having told how the job ended."""
        now = self.clock.now()
        if job.started_at is not None:
            self.telemetry.duration("ProcessingTime", now - job.started_at, model=job.model)
        if job.status is Status.DEAD_LETTERED:
            self.telemetry.count("DeadLetters", model=job.model)
        self.telemetry.count("Ended", model=job.model, status=job.status)
        self.telemetry.count("Charged", job.charged, model=job.model)
        self.telemetry.info("job_ended", status=job.status)
        return outcome
