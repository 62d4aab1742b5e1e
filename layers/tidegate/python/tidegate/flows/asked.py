"""A request with the names it goes by, what it accepts of the cache, and the job it asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tidegate.doors.answers import Answer
from tidegate.doors.envelope import Cached
from tidegate.errors import NeverFits
from tidegate.rules import keys, money
from tidegate.rules.catalogue import Entry
from tidegate.rules.directives import Directives
from tidegate.rules.epochs import NEVER, Epochs
from tidegate.rules.job import OPERATOR, CacheStatus, Job, Status, Usage
from tidegate.rules.normalise import Bounded, Structure, structured
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
    directives: Directives
    claim: str
    fingerprint: str
    meaning: dict[str, Any]
    """All that the answer depends on, but for the epochs."""
    token: str
    """Of this request alone, to know its own write by."""
    correlation_id: str
    most_bypasses: int
    """Requests per minute that its partner may send past the cache."""
    structure: Structure | None = None
    """Of code that is also found under other local names."""
    epochs: Epochs = NEVER
    job_key: str = ""
    structure_key: str | None = None
    turned_down: Cached | Answer | None = None
    """An answer that was at hand, and is not what the caller accepts."""

    def under(self, epochs: Epochs) -> Asked:
        """Return the same request with the names it has under these epochs."""
        if self.job_key and epochs == self.epochs:
            return self
        structure_key = None
        if self.structure is not None:
            structure_key = keys.job_key(keys.structural(self.meaning, self.structure), epochs)
        job_key = keys.job_key(self.meaning, epochs)
        return replace(self, epochs=epochs, job_key=job_key, structure_key=structure_key)

    @property
    def reusable(self) -> bool:
        """Return whether a finished answer may serve it, and its own may serve others."""
        return self.directives.store and keys.reuses_finished(self.entry, self.request.params)

    @property
    def bypasses(self) -> bool:
        """Return whether it passes by what the cache has or may have, by its caller's wish."""
        if not keys.reuses_finished(self.entry, self.request.params):
            return False
        wished = not (self.directives.read and self.directives.store)
        return self.partner != OPERATOR and (wished or self.turned_down is not None)

    def accepts(self, answer: Cached | Answer, now: float) -> bool:
        """Return whether an answer will do: within the entry's bounds, and the caller's own.

        Where all partners share a key, one partner's invalidation is a bound of age instead.
        """
        if answer.hard_until <= now or not self.reusable or self.void(answer):
            return False
        return self.directives.accepts(answer.answered_at, answer.soft_until, now)

    def void(self, answer: Cached | Answer) -> bool:
        """Return whether an operator has declared an answer void, where the key does not say it."""
        return round(answer.answered_at * 1000) <= self._void_until

    def is_for(self, job: Job) -> bool:
        """Return whether a job is this partner's and at this work: a hint may be wrong.

        One that is released is at no work: it has an answer that is nobody else's.
        """
        same = job.partner == self.partner and job.job_key == self.job_key
        return same and job.release_of is None

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
            cache_status=self._cache_status(now),
            newer_than=self.newer_than(now),
            reusable=self.reusable,
        )

    def new_work(self, job_id: str, now: float) -> Job:
        """Return the job with what it may cost set aside, for the sweeper to look after.

        Raises:
            NeverFits: one call would use more tokens than the model may in a minute.
        """
        job = self.new_job(job_id, now)
        body = self.request.body
        most = at_most(self.request.system, body.input, self.request.params, body.response_schema)
        return replace(
            job,
            reserved=money.reservation(self.entry, most, self.request.params),
            tokens=self._within_a_minute(most),
            due_at=min(now + FIRST_LOOK, job.deadline_at),
        )

    def kept(self) -> dict[str, Any]:
        """Return what a worker needs of it: kept beside the job."""
        kept = {
            "input": self.request.body.input,
            "params": self.request.params,
            "system": self.request.system,
        }
        if self.request.body.response_schema is not None:
            kept["response_schema"] = self.request.body.response_schema
        if self.structure is not None and self.structure_key is not None:
            kept["structure"] = {"key": self.structure_key, "names": list(self.structure.names)}
        return kept

    def anew(self, stale: Cached, job_id: str) -> Asked:
        """Return the operator's own request for an answer that is newer than a stale one."""
        body = self.request.body.model_copy(
            update={"priority": "low", "deadline_seconds": None, "metadata": {}}
        )
        return replace(
            self,
            request=self.request.model_copy(update={"body": body}),
            partner=OPERATOR,
            directives=Directives(),
            claim=keys.claim_id(OPERATOR, "refresh", job_id),
            turned_down=stale,
        )

    @property
    def _void_until(self) -> int:
        """Return when this partner's answers were declared void, where the key does not say it."""
        if self.entry.cache.scope != "shared":
            return 0
        return max(self.epochs.partner, self.epochs.both)

    def newer_than(self, now: float) -> float:
        """Return before when its answer must not have been made; 0 if that is no matter."""
        # A millisecond, as times are stored: newer than the one that will not do.
        least = 0.0 if self.turned_down is None else self.turned_down.answered_at + 0.001
        void = (self._void_until + 1) / 1000 if self._void_until else 0.0
        return max(self.directives.newer_than(now), least, void)

    def _cache_status(self, now: float) -> CacheStatus:
        if not keys.reuses_finished(self.entry, self.request.params):
            return "bypass"
        if not (self.directives.read and self.directives.store):
            return "request"
        if self.turned_down is None or self.turned_down.hard_until <= now:
            return "miss"
        return "stale_refused" if self.turned_down.stale(now) else "request"

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
    request: JobRequest,
    entry: Entry,
    partner: str,
    directives: Directives,
    *,
    claim: str,
    token: str,
    correlation_id: str,
    now: float,
    most_bypasses: int,
    bounded: Bounded,
) -> Asked:
    """Return a request with its names, but for those that depend on the epochs."""
    structure = None
    if entry.normalise == "code-structure" and keys.joins(entry, directives.store):
        structure = structured(
            request.body.input, ignore_comments=entry.ignore_comments, bounded=bounded
        )
    return Asked(
        request=request,
        entry=entry,
        partner=partner,
        directives=directives,
        claim=claim,
        fingerprint=keys.fingerprint(request),
        meaning=keys.meaning(
            request,
            entry,
            partner=partner,
            claim=claim,
            now=now,
            stored=directives.store,
            bounded=bounded,
        ),
        token=token,
        correlation_id=correlation_id,
        most_bypasses=most_bypasses,
        structure=structure,
    )
