"""The design broken on purpose, one piece at a time: what the explorer must be able to find.

Each mutant is a patch of the shipped code (or of a script's twin) for as long as a run takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

Patch = tuple[Any, str, Any]


@dataclass(frozen=True)
class Mutant:
    """A broken variant."""

    name: str
    patches: Callable[[], list[Patch]]
    """What replaces what: owner, attribute, replacement."""
    where: str = ""
    """The story in which it is found first."""
    at: int = 1
    """Faults at which it is found; -1: it is not."""
    why: str = ""
    """Where it is not found: which other guard covers it."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Break the design inside the block."""
        with ExitStack() as stack:
            for owner, name, new in self.patches():
                stack.enter_context(patch.object(owner, name, new))
            yield


MUTANTS: dict[str, Mutant] = {}


def mutant(
    name: str, where: str = "", at: int = 1, why: str = ""
) -> Callable[[Callable[[], list[Patch]]], Callable[[], list[Patch]]]:
    """Register what the function below returns as a mutant."""

    def register(patches: Callable[[], list[Patch]]) -> Callable[[], list[Patch]]:
        MUTANTS[name] = Mutant(name, patches, where, at, why)
        return patches

    return register


def load() -> dict[str, Mutant]:
    """Return all mutants."""
    from tests.explorer import (  # noqa: F401 - they register themselves
        mutants_accept,
        mutants_breaker,
        mutants_cache,
        mutants_gate,
        mutants_money,
        mutants_pace,
        mutants_release,
        mutants_repair,
        mutants_wishes,
        mutants_work,
    )

    return MUTANTS
