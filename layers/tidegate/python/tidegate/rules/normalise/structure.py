"""An input whose local variables have numbers for names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Structure:
    """What inputs share that differ in the names of local variables alone."""

    input: Any
    """A JSON value, for the key."""
    names: tuple[str, ...]
    """What the variables are called, by number."""
