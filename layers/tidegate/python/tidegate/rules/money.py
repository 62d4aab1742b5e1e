"""What a job may cost, and what it did cost: whole micro-credits, reserved before, captured after.

A credit is 1 000 000 micro-credits. What is captured is never more than what was reserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Usage

MICRO = 1_000_000
"""Micro-credits in a credit."""

LARGEST = 10**18
"""Micro-credits given at once at most; far below what DynamoDB's numbers hold (38 digits)."""


def reservation(entry: Entry, most: Usage, params: Mapping[str, Any]) -> int:
    """Return the micro-credits a job may cost that uses so much at most: what is set aside."""
    price = entry.price
    images = int(params.get("n", 1)) if entry.task == "image" else 0
    return max(_cost(entry, most, images), price.cached)


def charge(entry: Entry, usage: Usage, images: int, reserved: int) -> int:
    """Return the micro-credits a completed job costs: never more than was reserved for it."""
    return min(_cost(entry, usage, images), reserved)


def credits_to_micro(text: str) -> int:
    """Return an amount of credits, written as a decimal number, in micro-credits.

    Raises:
        ValueError: not a positive amount, or finer than a micro-credit.
    """
    try:
        micro = Decimal(text) * MICRO
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a number of credits") from None
    if not micro.is_finite() or not 0 < micro <= LARGEST or micro != micro.to_integral_value():
        raise ValueError(f"{text!r}: a positive number of credits with at most 6 decimals")
    return int(micro)


def micro_to_credits(micro: int) -> float:
    """Return micro-credits as credits, for people; nothing is computed with it."""
    return micro / MICRO


def _cost(entry: Entry, usage: Usage, images: int) -> int:
    price = entry.price
    return (
        price.per_call
        + _thousands(usage.input_tokens * price.per_1k_input_tokens)
        + _thousands(usage.output_tokens * price.per_1k_output_tokens)
        + images * price.per_image
    )


def _thousands(amount: int) -> int:
    """Return a thousandth, rounded up: no fraction of a micro-credit is given away."""
    return -(-amount // 1000)
