"""Normalisation of an input for its job key; errs towards a miss. The vendor gets the original."""

from __future__ import annotations

from typing import Any

from tidegate.rules.catalogue import Normalise
from tidegate.rules.normalise.text import text


def normalised(value: Any, how: Normalise) -> Any:
    """Return `value` with every string in it normalised as the entry says."""
    if how == "exact":
        return value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {name: normalised(member, how) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [normalised(item, how) for item in value]
    return value
