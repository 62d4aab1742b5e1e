"""How a job ends, or ends an attempt: each way one fenced transaction, then what only helps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tidegate.clock import Clock, Ids
from tidegate.doors.attempts import Attempts
from tidegate.doors.cache import Cache, Cached, Staged
from tidegate.doors.endings import Done, Endings
from tidegate.doors.jobs import Jobs
from tidegate.errors import Retry, VendorError
from tidegate.flows.ends import Ends
from tidegate.flows.only_helps import only_helps
from tidegate.flows.outcome import ACKNOWLEDGED, Outcome
from tidegate.gate.verdict import Verdict, judge
from tidegate.rules import backoff, money
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job, JobError, Status, Usage
from tidegate.telemetry import Telemetry

ACCOUNT_DELAY = 60.0
"""Seconds before a job is tried again after our account was refused, and no pause could be set."""


@dataclass(frozen=True, slots=True)
class Finish:
    """What a worker makes of a vendor's answer, or of the want of one."""

    jobs: Jobs
    attempts: Attempts
    endings: Endings
    ends: Ends
    cache: Cache
    clock: Clock
    ids: Ids
    telemetry: Telemetry

    def judged(self, job: Job, staged: Staged, entry: Entry) -> Outcome:
        """Hold a staged answer against the gate, and complete or quarantine the job."""
        verdict = judge(
            entry,
            text=staged.text,
            image_count=len(staged.images),
            expected_images=staged.expected_images,
            truncated=staged.truncated,
        )
        if verdict.output is None:
            return self._quarantined(job, staged, verdict)
        output = {"images": staged.images} if entry.task == "image" else verdict.output
        return self._completed(job, staged, output, entry)

    def _completed(self, job: Job, staged: Staged, output: dict[str, Any], entry: Entry) -> Outcome:
        now = self.clock.now()
        life = entry.cache.hard_ttl * (1 - entry.cache.jitter * self.ids.fraction())
        usage = Usage(staged.input_tokens, staged.output_tokens)
        done = Done(
            output=output,
            usage=usage,
            upstream_ms=staged.upstream_ms,
            vendor_request_id=staged.vendor_request_id,
            answered_at=staged.answered_at,
            hard_until=staged.answered_at + life,
            charged=money.charge(entry, usage, len(staged.images), job.reserved),
        )
        completed = self.endings.complete(job, done, now=now)
        answer = Cached(job.id, output, done.answered_at, done.hard_until)
        with only_helps(self.telemetry, job.model):
            self.cache.promote(job.job_key, answer, now)
        self.telemetry.count("Tokens", staged.input_tokens, model=job.model, direction="input")
        self.telemetry.count("Tokens", staged.output_tokens, model=job.model, direction="output")
        return self.ends.told(completed, ACKNOWLEDGED)

    def from_answer(self, job: Job, entry: Entry) -> Outcome | None:
        """Complete a job with an answer that is already there; None if there is none."""
        now = self.clock.now()
        result = self.cache.look(job.job_key, now).result
        if result is not None:
            holder, answered_at = result.job_id, result.answered_at
        else:
            answer = self.jobs.work(job.job_key, job.partner).answer
            if answer is None or answer.hard_until <= now:
                return None
            holder, answered_at = answer.job_id, answer.answered_at
        price = min(entry.price.cached, job.reserved)
        completed = self.endings.complete_from(job, holder, answered_at, price, now=now)
        self.telemetry.count("CacheHits", model=job.model)
        return self.ends.told(completed, ACKNOWLEDGED)

    def failed(self, job: Job, error: VendorError, entry: Entry, paused: float | None) -> Outcome:
        """End an attempt that the vendor did not answer: try again, or not.

        `paused` is how long the model is paused for it, in seconds.
        """
        self.telemetry.bind(error_class=error.code)
        self.telemetry.count("Errors", model=job.model, vendor=entry.vendor, error_class=error.code)
        why = JobError(error.retry, error.code, str(error), "vendor", error.vendor_status)
        if error.retry is Retry.ACCOUNT:
            delay = ACCOUNT_DELAY if paused is None else paused
            self.attempts.put_back(job, why, retry_at=self.clock.now() + delay)
            self.telemetry.warn("vendor_account_refused", vendor_status=error.vendor_status)
            return replace(ACKNOWLEDGED, again_after=delay)
        if error.retry is Retry.PERMANENT:
            return self.ends.for_good(job, why)
        return self._retryable(job, error, why, entry, paused or 0.0)

    def _retryable(
        self, job: Job, error: VendorError, why: JobError, entry: Entry, paused: float
    ) -> Outcome:
        now = self.clock.now()
        policy = entry.retry
        if job.bad_answers + 1 >= policy.attempts or job.starts >= policy.starts:
            return self.ends.used_up(job, why)
        asked = max(error.retry_after or 0.0, paused)
        delay = backoff.delay(policy, job.bad_answers, self.ids.fraction(), asked)
        if now + delay >= job.deadline_at:
            late = JobError("deadline", error.code, f"{why.message}; no time for another try",
                            "vendor", error.vendor_status)  # fmt: skip
            return self.ends.for_good(job, late)
        self.attempts.fail(job, why, retry_at=now + delay)
        self.telemetry.count("Retries", model=job.model)
        self.telemetry.info("attempt_failed", delay_seconds=round(delay, 3), reason=str(error))
        return Outcome(delay)

    def _quarantined(self, job: Job, staged: Staged, verdict: Verdict) -> Outcome:
        first = verdict.reasons[0]
        where = f"{first.pointer}: " if first.pointer else ""
        why = JobError("gate", first.code, where + first.message, "gate")
        kept = {
            "text": staged.text,
            "images": staged.images,
            "reasons": [[r.code, r.pointer, r.message] for r in verdict.reasons],
            "vendor_request_id": staged.vendor_request_id,
            "correlation_id": job.correlation_id,
        }
        now = self.clock.now()
        ended = self.endings.end(job, Status.QUARANTINED, why, now=now, kept=kept, owed=True)
        self.ends.copy(ended)
        with only_helps(self.telemetry, job.model):
            self.cache.unstage(job.job_key)
        self.telemetry.bind(error_class=first.code)
        self.telemetry.count("Quarantined", model=job.model)
        return self.ends.told(ended, ACKNOWLEDGED)
