"""Epochs: what makes all answers of before an invalidation unreachable, without touching them."""

from __future__ import annotations

from typing import NamedTuple


class Epochs(NamedTuple):
    """When answers were last invalidated, in milliseconds since 1970; 0 is never."""

    model: int = 0
    """Of the model, whoever asks."""
    partner: int = 0
    """Of the partner, whatever the model."""
    both: int = 0
    """Of this partner at this model."""


NEVER = Epochs()
"""Nothing was ever invalidated."""
