"""A request with the names it goes by, and the job it asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tidegate.errors import NeverFits
from tidegate.rules import keys, money
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job, Status, Usage
from tidegate.rules.request import JobRequest
from tidegate.rules.tokens import at_most

FIRST_LOOK = 45.0
"""Seconds after acceptance at which the sweeper looks whether the job was queued: with a sweep
every minute, a lost message is sent within two."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request of one partner comes to."""

    request: JobRequest
    entry: Entry
    partner: str
    claim: str
    job_key: str
    fingerprint: str
    token: str
    """Of this request alone, to know its own write by."""
    correlation_id: str

    def is_for(self, job: Job) -> bool:
        """Return whether a job is this partner's and at this work: a hint may be wrong."""
        return job.partner == self.partner and job.job_key == self.job_key

    def new_job(self, job_id: str, now: float) -> Job:
        """Return the job as it is when it is accepted at `now` (seconds since the epoch)."""
        body = self.request.body
        seconds = min(body.deadline_seconds or self.entry.deadline, self.entry.deadline)
        return Job(
            id=job_id,
            partner=self.partner,
            model=self.request.model,
            task=self.request.task,
            job_key=self.job_key,
            fingerprint=self.fingerprint,
            idempotency_hash=self.claim,
            status=Status.QUEUED,
            created_at=now,
            enqueued_at=now,
            deadline_at=now + seconds,
            priority=body.priority,
            correlation_id=self.correlation_id,
        )

    def new_work(self, job_id: str, now: float) -> Job:
        """Return the job with what it may cost set aside, for the sweeper to look after.

        Raises:
            NeverFits: one call would use more tokens than the model may in a minute.
        """
        job = self.new_job(job_id, now)
        most = at_most(self.entry, self.request.body.input, self.request.params)
        return replace(
            job,
            reserved=money.reservation(self.entry, most, self.request.params),
            tokens=self._within_a_minute(most),
            due_at=min(now + FIRST_LOOK, job.deadline_at),
        )

    def _within_a_minute(self, most: Usage) -> int:
        """Return the tokens of a call at most, if the model can have so many at all."""
        tokens = most.input_tokens + most.output_tokens
        limit = self.entry.pace.tokens_per_minute
        if limit is not None and tokens > limit:
            raise NeverFits(
                f"this request may use {tokens} tokens, and {self.request.model} has {limit} per "
                "minute: shorten the input or lower max_tokens",
                pointers=(("/params/max_tokens", "lower it"), ("/input", "or shorten this")),
            )
        return tokens


def ask(
    request: JobRequest, entry: Entry, partner: str, claim: str, token: str, correlation_id: str
) -> Asked:
    """Return a request with its names."""
    return Asked(
        request=request,
        entry=entry,
        partner=partner,
        claim=claim,
        job_key=keys.job_key(request, entry, partner=partner, claim=claim),
        fingerprint=keys.fingerprint(request),
        token=token,
        correlation_id=correlation_id,
    )
