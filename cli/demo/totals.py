"""The books at the end: what was asked, what it cost, how it ended; and whether the books agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median

from cli.demo.books import await_that
from cli.demo.facts import Check, Unfinished
from cli.demo.stage import Stage
from tidegate.rules.job import OPERATOR, Job, Status
from tidegate.rules.money import MICRO

QUIET = 30.0
"""Seconds for doubled messages to be acknowledged: they wait out the lease they met, under 20 s."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Everything the demo did. Times are seconds."""

    sent: int
    created: int
    joined: int
    replayed: int
    cached: int
    refused: int
    broken: int
    jobs: int
    """Jobs in the table."""
    open_jobs: int
    starts: int
    """Vendor calls by Tidegate's own count: attempts begun, on the jobs in the table."""
    vendor_calls: int
    """Vendor calls by the vendor's own journal."""
    retries: int
    refreshes: int
    """Jobs of the operator's own, that made stale answers anew."""
    ends: Counter[Status]
    reopened: int
    """Times an operator took an end back, to run the job again."""
    released: int
    """Answers that an operator let through all the same."""
    charged: int
    """Micro-credits, as the jobs say."""
    captured: int
    """Micro-credits, as the balances say."""
    entries: int
    """Entries of the ledger."""
    differences: int
    """Between balances, entries and jobs."""
    dlq_messages: int
    quarantine_messages: int
    left: int
    """Messages in the models' queues."""
    longest_wait: float
    median_time: float
    longest_time: float

    @property
    def accepted(self) -> int:
        """Return how many requests were not refused."""
        return self.created + self.joined + self.replayed + self.cached

    @property
    def saved(self) -> int:
        """Return how many requests needed no call of their own; neither a retry nor the making anew
        of a stale answer is a request."""
        return self.accepted - (self.starts - self.retries - self.refreshes)


def totals(stage: Stage) -> Totals:
    """Return what table, queues, journal and our own tally say."""
    left = _settled(stage)
    jobs = stage.books.jobs()
    counts = stage.tally.counts
    money = stage.operator.audit()
    times = [_lasted(job) for job in jobs if job.started_at is not None]
    waits = [job.started_at - job.enqueued_at for job in jobs if job.started_at is not None]
    return Totals(
        sent=counts.total(),
        created=counts["created"],
        joined=counts["joined"],
        replayed=counts["replayed"],
        cached=counts["cached"],
        refused=counts["refused"],
        broken=counts["broken"],
        jobs=len(jobs),
        open_jobs=sum(not job.done for job in jobs),
        starts=sum(_calls(job) for job in jobs),
        vendor_calls=len(stage.vendor.calls()),
        retries=sum(max(0, _calls(job) - 1) for job in jobs),
        refreshes=sum(job.partner == OPERATOR for job in jobs),
        ends=Counter(job.status for job in jobs if job.done),
        reopened=sum(job.replay_count - _released(job) for job in jobs),
        released=sum(_released(job) for job in jobs),
        charged=sum(job.charged for job in jobs),
        captured=sum(each.balance.captured for each in money),
        entries=sum(each.balance.entries for each in money),
        differences=sum(len(each.differences) for each in money),
        dlq_messages=stage.books.waiting(stage.info.dlqs.values()),
        quarantine_messages=stage.books.waiting([stage.info.quarantine_queue]),
        left=left,
        longest_wait=max(waits, default=0),
        median_time=median(times) if times else 0,
        longest_time=max(times, default=0),
    )


def audit(found: Totals) -> tuple[Check, ...]:
    """Return what must hold at rest, whatever the acts did."""
    stored = found.created + found.cached + found.refreshes
    return (
        Check("jobs that are not final", found.open_jobs, 0),
        Check("vendor calls, counted by us and by the vendor", found.starts, found.vendor_calls),
        Check("jobs in the table: new, cached, and the operator's own", found.jobs, stored),
        Check("messages left in the models' queues", found.left, 0),
        Check("micro-credits: on the jobs, in the balances", found.charged, found.captured),
        Check("differences between balances, ledger and jobs", found.differences, 0),
        Check("5xx answers to requests for jobs", found.broken, 0),
    )


def rows(found: Totals) -> dict[str, dict[str, str]]:
    """Return the summary by section: what it says and the figure."""
    share = found.saved / found.accepted if found.accepted else 0
    return {
        "Requests for jobs": {
            "sent": str(found.sent),
            "accepted as a new job": str(found.created),
            "joined a job that was running": str(found.joined),
            "replayed, same Idempotency-Key": str(found.replayed),
            "answered from the cache": str(found.cached),
            "refused (4xx)": str(found.refused),
        },
        "Vendor calls": {
            "by Tidegate's count (DynamoDB)": str(found.starts),
            "by the vendor's own count": str(found.vendor_calls),
            "of these, retries": str(found.retries),
            "of these, to make stale answers anew": str(found.refreshes),
            "saved (joined, replayed, cached)": f"{found.saved} of {found.accepted} ({share:.0%})",
        },
        "Ends of jobs": {
            "completed": str(found.ends[Status.COMPLETED]),
            "dead-lettered": str(found.ends[Status.DEAD_LETTERED]),
            "quarantined": str(found.ends[Status.QUARANTINED]),
            "replayed by the operator": str(found.reopened),
            "released by the operator": str(found.released),
            "messages in the DLQs": str(found.dlq_messages),
            "messages in the quarantine queue": str(found.quarantine_messages),
        },
        "Money": {
            "credits charged": f"{found.captured / MICRO:.6f}",
            "entries in the ledger": str(found.entries),
            "differences": str(found.differences),
        },
        "Time of jobs that ran": {
            "longest wait in a queue": f"{found.longest_wait:.2f} s",
            "end to end, median": f"{found.median_time:.2f} s",
            "end to end, longest": f"{found.longest_time:.2f} s",
        },
    }


def _released(job: Job) -> bool:
    return job.release_of is not None


def _calls(job: Job) -> int:
    """Return how many attempts of a job called the vendor: to hand out an answer, none does."""
    return job.attempt if job.release_of is None else job.release_of


def _lasted(job: Job) -> float:
    return 0.0 if job.finished_at is None else job.finished_at - job.enqueued_at


def _settled(stage: Stage) -> int:
    """Return how many messages the models' queues still hold once they had time to empty."""
    queues = list(stage.info.queues.values())
    stage.progress("waiting until the queues are empty", 0, 0)
    try:
        await_that(lambda: stage.books.waiting(queues) == 0, "empty queues", QUIET)
    except Unfinished:
        return stage.books.waiting(queues)
    return 0
