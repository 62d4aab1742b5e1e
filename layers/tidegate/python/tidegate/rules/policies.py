"""The parts of a catalogue entry: parameters, timeouts, retries, reuse, price.

Unknown keys are errors everywhere.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator

from tidegate.rules.strict import Strict

Reuse = Literal["always", "deterministic", "never"]

LEASE_MARGIN = 10.0
"""Seconds a lease outlives the function: Lambda kills a little late, writes land later still."""

VISIBILITY_FACTOR = 6
"""AWS: a queue's visibility timeout is at least six times its function's timeout
(docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html)."""


class Parameter(Strict):
    """One parameter a partner may send, with its default and its bounds."""

    type: Literal["integer", "number", "string", "boolean"]
    default: int | float | str | bool | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _default_fits(self) -> Parameter:
        if self.default is not None:
            problem = self.problem_with(self.default)
            if problem:
                raise ValueError(f"default {problem}")
        return self

    def problem_with(self, value: object) -> str | None:
        """Return what is wrong with `value` for this parameter, or None."""
        if not self._has_type(value):
            return f"must be of type {self.type}"
        if self.choices is not None and value not in self.choices:
            return "must be one of " + ", ".join(self.choices)
        if isinstance(value, int | float) and not isinstance(value, bool):
            if self.minimum is not None and value < self.minimum:
                return f"must be at least {self.minimum:g}"
            if self.maximum is not None and value > self.maximum:
                return f"must be at most {self.maximum:g}"
        if isinstance(value, str) and len(value) > 4096:
            return "must be at most 4096 characters"
        return None

    def _has_type(self, value: object) -> bool:
        if self.type == "boolean":
            return isinstance(value, bool)
        if isinstance(value, bool):
            return False
        if self.type == "integer":
            return isinstance(value, int)
        if self.type == "number":
            return isinstance(value, int | float)
        return isinstance(value, str)


class Timeouts(Strict):
    """How long a vendor may take, in seconds. The rest of the chain follows from `total`."""

    connect: float = Field(default=5, gt=0)
    read: float = Field(gt=0)
    total: float = Field(gt=0, le=800)
    margin: float = Field(default=15, ge=3, le=90)
    """What a worker has left after the vendor's total, to write what came of it."""

    @property
    def function(self) -> int:
        """Return the worker's timeout: it outlives the vendor's total by the margin."""
        return math.ceil(self.total + self.margin)

    @property
    def lease(self) -> float:
        """Return the lease's life; longer than any worker lives."""
        return self.function + LEASE_MARGIN

    @property
    def visibility(self) -> int:
        """Return the queue's visibility timeout."""
        return VISIBILITY_FACTOR * self.function


class RetryPolicy(Strict):
    """How often a job may be tried, and how long it waits between (seconds)."""

    attempts: int = Field(default=6, ge=1, le=8)
    """Bad answers after which the job is dead-lettered. A 429, a refusal of our account and what
    opens the circuit breaker are none."""
    starts: int = Field(default=10, ge=1, le=20)
    """Vendor calls begun after which it is, whatever became of them: the bound of the cost."""
    base: float = Field(default=5, gt=0)
    """The first wait; each is twice the one before: 5, 10, 20, 40, 80."""
    cap: float = Field(default=300, gt=0, le=43_000)

    @model_validator(mode="after")
    def _starts_cover_attempts(self) -> RetryPolicy:
        if self.starts < self.attempts:
            raise ValueError("starts must be at least attempts")
        return self


class CachePolicy(Strict):
    """Which finished answers are used again, and for how long (seconds)."""

    reuse: Reuse = "deterministic"
    """`deterministic`: only where temperature is 0 or a seed is given."""
    join: bool = True
    """Whether the same request of one partner, sent while it runs, is the same job. Without, and
    under `never`, only the retries under one Idempotency-Key are."""
    scope: Literal["partner", "shared"] = "partner"
    soft_ttl: int | None = Field(default=None, ge=1, le=30 * 86_400)
    """After which an answer is served stale, and made anew in the background. None: never stale."""
    hard_ttl: int = Field(default=86_400, ge=1, le=30 * 86_400)
    """After which it is not served. At most 30 days: what it points at in S3 is kept for 90."""
    jitter: float = Field(default=0.1, ge=0, le=0.5)
    """Share of a life by which it is shortened at random, so that entries do not end together."""
    time_bucket: int | None = Field(default=None, ge=1, le=30 * 86_400)
    """Requests of two such stretches of time are two works (a day: 86400, ends at 00:00 UTC)."""
    negative_ttl: int = Field(default=0, ge=0, le=300)
    """How long the same work is not tried again after it was refused for good, or failed the gate,
    twice in a row; doubled by each failure more. 0: it is at once. RFC 9520 caps it at 300."""

    @model_validator(mode="after")
    def _soft_before_hard(self) -> CachePolicy:
        if self.soft_ttl is not None and self.soft_ttl > self.hard_ttl:
            raise ValueError("soft_ttl must not be over hard_ttl")
        if self.reuse == "never" and self.scope == "shared":
            raise ValueError("scope shared needs answers that are reused")
        return self

    def lives(self, soft: float, hard: float) -> tuple[float, float]:
        """Return the seconds an answer is fresh, and may be served; two draws from [0, 1)."""
        until = self.hard_ttl * (1 - self.jitter * hard)
        if self.soft_ttl is None:
            return until, until
        return min(self.soft_ttl * (1 - self.jitter * soft), until), until


class Price(Strict):
    """What a job costs, in micro-credits: whole numbers, never fractions."""

    per_call: int = Field(default=0, ge=0)
    per_1k_input_tokens: int = Field(default=0, ge=0)
    per_1k_output_tokens: int = Field(default=0, ge=0)
    per_image: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)
    """Of an answer that is already there."""
