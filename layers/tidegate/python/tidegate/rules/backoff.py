"""How long a failed attempt waits: exponential, with jitter, never shorter than was asked."""

from __future__ import annotations

from tidegate.rules.policies import RetryPolicy

MAX_VISIBILITY = 43_000
"""Seconds; SQS allows 12 hours from the receive (docs: sqs-visibility-timeout)."""


JITTER = 0.25
"""Share of a wait by which it is longer or shorter at random: jobs that failed together come back
apart. More is not needed, as the model's pace spreads them besides, and would cost patience."""


def delay(policy: RetryPolicy, failures: int, fraction: float, asked: float | None) -> float:
    """Return the seconds until the next attempt: base x 2^n, at most the cap, and the jitter.

    `asked` is the vendor's own wait in seconds, `fraction` a draw from [0, 1).
    """
    wait = min(policy.cap, policy.base * 2.0 ** min(failures, 30))
    wait *= 1 + JITTER * (2 * fraction - 1)
    return min(max(wait, asked or 0.0), MAX_VISIBILITY)
