"""How a job ends, or ends an attempt: each way one fenced transaction, then what only helps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tidegate.clock import Clock, Ids
from tidegate.doors.answers import Answer
from tidegate.doors.attempts import Attempts
from tidegate.doors.cache import Cache, Negative
from tidegate.doors.endings import Done, Endings
from tidegate.doors.envelope import Cached
from tidegate.doors.jobs import Jobs
from tidegate.doors.quarantine import Quarantine
from tidegate.doors.staged import Staged, StagedImage
from tidegate.errors import ReferencesUnavailable, Retry, VendorError, VendorThrottled
from tidegate.flows.ends import Ends
from tidegate.flows.gatekeeping import Gate
from tidegate.flows.only_helps import only_helps
from tidegate.flows.outcome import ACKNOWLEDGED, Outcome
from tidegate.flows.quarantined import quarantined
from tidegate.gate.accepted import output
from tidegate.rules import backoff, money
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job, JobError, Usage
from tidegate.rules.quarantine import made_by
from tidegate.telemetry import Telemetry

ACCOUNT_DELAY = 60.0
"""Seconds before a job is tried again after our account was refused, and no pause could be set."""

BEHIND = 1.0
"""Seconds after the others that a job comes back whose call failed: if it is the job that makes the
vendor fail, another one is to try first."""

REFERENCES_DELAY = 10.0
"""Seconds, and up to twice as many, until an answer is judged again that could not be."""

LOST = JobError(Retry.PERMANENT, "release_lost", "the accepted answer is gone by now", "gate")

LONGEST_NEGATIVE = 300.0
"""Seconds: RFC 9520, section 3.2, caps the caching of failures at five minutes."""


@dataclass(frozen=True, slots=True)
class Finish:
    """What a worker makes of a vendor's answer, or of the want of one."""

    jobs: Jobs
    attempts: Attempts
    endings: Endings
    ends: Ends
    cache: Cache
    gate: Gate
    quarantine: Quarantine
    clock: Clock
    ids: Ids
    telemetry: Telemetry

    def judged(self, job: Job, staged: Staged, entry: Entry, *, found: bool = False) -> Outcome:
        """Hold a staged answer against the gate, and complete or quarantine the job.

        `found` is whether an attempt before this one staged it.
        """
        try:
            verdict = self.gate.verdict(job, staged, entry)
        except ReferencesUnavailable as unavailable:
            return self._unjudged(job, staged, entry, unavailable)
        if verdict.output is None:
            ended, why = quarantined(
                job, staged, verdict, entry, self.ends, self.quarantine, self.cache
            )
            self._remember(job, why, entry)
            return self.ends.told(ended, ACKNOWLEDGED)
        return self._completed(job, staged, verdict.output, entry, found=found)

    def released(self, job: Job, entry: Entry) -> Outcome:
        """Complete a job with the answer that an operator accepted, for its own partner alone."""
        record = self.quarantine.record(job.id, job.release_of)
        staged = None if record is None else self.quarantine.raw(record)
        accepted = None if staged is None else output(entry, staged.given, staged.expected)
        if staged is None or accepted is None:
            return self.ends.for_good(job, LOST)
        return self._completed(job, staged, accepted, entry, found=False)

    def _unjudged(
        self, job: Job, staged: Staged, entry: Entry, unavailable: ReferencesUnavailable
    ) -> Outcome:
        """Put a job back until what its answer refers to can be looked up; the answer is kept."""
        delay = references_delay(self.ids)
        with only_helps(self.telemetry, job.model):
            life = max(stage_life(entry), job.deadline_at - self.clock.now())
            self.cache.stage(job.job_key, staged, life)
        # What is wrong with which set is the operator's business, and in the log.
        message = "what the answer refers to cannot be looked up for now"
        why = JobError(unavailable.retry, unavailable.code, message, "gate")
        retry_at = self.clock.now() + delay
        self.attempts.put_back(job, why, retry_at=retry_at, answered=True)
        return replace(ACKNOWLEDGED, again_after=delay)

    def _completed(
        self, job: Job, staged: Staged, checked: dict[str, Any], entry: Entry, *, found: bool
    ) -> Outcome:
        if entry.task == "image":
            checked = {"images": [_shown(image) for image in staged.images]}
        now = self.clock.now()
        soft, hard = entry.cache.lives(self.ids.fraction(), self.ids.fraction())
        usage = Usage(staged.input_tokens, staged.output_tokens, staged.usage_estimated)
        at = staged.answered_at
        answer = Cached(job.id, checked, at, at + soft, at + hard, made_by(job.model, entry))
        done = Done(
            usage=usage,
            upstream_ms=staged.upstream_ms,
            vendor_request_id=staged.vendor_request_id,
            answer=answer,
            charged=money.charge(entry, usage, len(staged.images), job.reserved),
            found=found,
            structure_key=staged.structure_key,
            names=staged.names,
            for_others=len(staged.images) >= staged.expected.images,
        )
        completed = self.endings.complete(job, done, now=now)
        with only_helps(self.telemetry, job.model):
            self._promote(job, done, now)
        self.telemetry.count("Tokens", staged.input_tokens, model=job.model, direction="input")
        self.telemetry.count("Tokens", staged.output_tokens, model=job.model, direction="output")
        return self.ends.told(completed, ACKNOWLEDGED)

    def _promote(self, job: Job, done: Done, now: float) -> None:
        if not (job.reusable and done.for_others):
            if job.release_of is None:  # else what lies there is another job's
                self.cache.unstage(job.job_key)
            return
        self.cache.promote(job.job_key, done.answer, now)
        if done.structure_key is not None:
            self.cache.promote(done.structure_key, replace(done.answer, names=done.names), now)

    def from_answer(self, job: Job, entry: Entry) -> Outcome | None:
        """Complete a job with an answer that is already there; None if there is none.

        A failure that is remembered ends it as well: results are shared, and so is that there is
        none. Not for a job that asks for something newer, or that an operator re-opened.
        """
        if not job.reusable:
            return None
        now = self.clock.now()
        look = self.cache.look(job.job_key, now)
        answer: Cached | Answer | None = look.result
        if answer is None or answer.answered_at < job.newer_than:
            answer = self.jobs.work(job.job_key, job.partner).answer
        if answer is None or answer.hard_until <= now or answer.answered_at < job.newer_than:
            return self._from_failure(job, look.negative, entry, now)
        price = min(entry.price.cached, job.reserved)
        completed = self.endings.complete_from(
            job, answer.job_id, answer.answered_at, price, now=now
        )
        self.telemetry.count("CacheHits", model=job.model)
        return self.ends.told(completed, ACKNOWLEDGED)

    def _from_failure(
        self, job: Job, known: Negative | None, entry: Entry, now: float
    ) -> Outcome | None:
        if known is None or not known.holds(now) or not entry.cache.negative_ttl:
            return None
        if job.replay_count or known.made_at < job.newer_than:
            return None
        self.telemetry.count("NegativeHits", model=job.model)
        return self.ends.for_good(job, known.error)

    def _remember(self, job: Job, why: JobError, entry: Entry) -> None:
        """Remember that the work failed for good. From the second time in a row on it is not tried
        again for a while, twice as long after each: once may be chance, and one may take over."""
        first = entry.cache.negative_ttl
        if not first or not job.reusable:
            return
        now = self.clock.now()
        with only_helps(self.telemetry, job.model):
            known = self.cache.look(job.job_key, now).negative
            strikes = 1 if known is None else known.strikes + 1
            life = 0.0 if strikes == 1 else min(first * 2.0 ** (strikes - 2), LONGEST_NEGATIVE)
            self.cache.refuse(job.job_key, Negative(why, now, now + life, strikes), now)

    def failed(self, job: Job, error: VendorError, entry: Entry, paused: float | None) -> Outcome:
        """End an attempt that the vendor did not answer: try again, or not.

        `paused` is how long the model is paused for it, in seconds, or None. Then the job is put
        back: neither a 429 nor an outage is its fault, nor an attempt.
        """
        self.telemetry.bind(error_class=error.code)
        self.telemetry.count("Errors", model=job.model, vendor=entry.vendor, error_class=error.code)
        why = JobError(error.retry, error.code, str(error), "vendor", error.vendor_status)
        if error.retry is Retry.PERMANENT:
            outcome = self.ends.for_good(job, why)
            self._remember(job, why, entry)
            return outcome
        if error.retry is Retry.ACCOUNT:
            self.telemetry.warn("vendor_account_refused", vendor_status=error.vendor_status)
            return self._put_back(job, why, ACCOUNT_DELAY if paused is None else paused)
        throttled = isinstance(error, VendorThrottled)
        if paused is None and not throttled:
            return self._retryable(job, error, why, entry)
        if paused is None:  # Redis went just now: nobody calls, and nothing says for how long
            paused = backoff.delay(entry.retry, 0, self.ids.fraction(), None)
        wait = max(error.retry_after or 0.0, paused)
        if throttled and self.clock.now() + wait >= job.deadline_at:
            return self._too_late(job, why)
        return self._put_back(job, why, wait if throttled else wait + BEHIND)

    def _put_back(self, job: Job, why: JobError, wait: float) -> Outcome:
        """Let a job come again after `wait` seconds, its attempts as they were."""
        wait = min(wait, backoff.MAX_VISIBILITY)
        self.attempts.put_back(job, why, retry_at=self.clock.now() + wait)
        return replace(ACKNOWLEDGED, again_after=wait)

    def _retryable(self, job: Job, error: VendorError, why: JobError, entry: Entry) -> Outcome:
        now, policy = self.clock.now(), entry.retry
        if job.bad_answers + 1 >= policy.attempts or job.starts >= policy.starts:
            return self.ends.used_up(job, why)
        delay = backoff.delay(policy, job.bad_answers, self.ids.fraction(), error.retry_after)
        if now + delay >= job.deadline_at:
            return self._too_late(job, why)
        self.attempts.fail(job, why, retry_at=now + delay)
        self.telemetry.count("Retries", model=job.model)
        self.telemetry.info("attempt_failed", delay_seconds=round(delay, 3), reason=str(error))
        return Outcome(delay)

    def _too_late(self, job: Job, why: JobError) -> Outcome:
        """Fail a job whose next try could only come after its deadline."""
        late = replace(why, kind="deadline", message=f"{why.message}; no time for another try")
        return self.ends.for_good(job, late)


def references_delay(ids: Ids) -> float:
    """Return the seconds until what could not be looked up is asked for again."""
    return REFERENCES_DELAY * (1 + ids.fraction())


def stage_life(entry: Entry) -> float:
    """Return how long a raw answer is kept, in seconds: until it has been redelivered for sure."""
    return 2.0 * entry.timeouts.visibility


def _shown(image: StagedImage) -> dict[str, Any]:
    return {
        "key": image.key,
        "content_type": image.content_type,
        "width": image.width,
        "height": image.height,
    }
