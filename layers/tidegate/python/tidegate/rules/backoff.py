"""How long a failed attempt waits: exponential, full jitter, never shorter than was asked."""

from __future__ import annotations

from tidegate.rules.policies import RetryPolicy

MAX_VISIBILITY = 43_000
"""Seconds; SQS allows 12 hours from the receive (docs: sqs-visibility-timeout)."""


def delay(policy: RetryPolicy, failures: int, fraction: float, asked: float | None) -> float:
    """Return the seconds until the next attempt.

    Full jitter, U(0, min(cap, base * 2^n)), makes the fewest calls of the known schemes
    (AWS Architecture Blog, "Exponential Backoff And Jitter"). `asked` is the vendor's own wait.
    """
    ceiling = min(policy.cap, policy.base * 2.0 ** min(failures, 30))
    return min(max(fraction * ceiling, asked or 0.0), MAX_VISIBILITY)
