"""What an act found out."""

from __future__ import annotations

from dataclasses import dataclass


class Unfinished(RuntimeError):
    """What an act waited for did not come about; `str()` says what."""


def _words(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, with what it must be."""

    what: str
    found: object
    expected: object

    def __str__(self) -> str:
        """Return the check in one line."""
        return f"{self.what}: {self.outcome}"

    @property
    def outcome(self) -> str:
        """Return what was found, and what was expected if that is something else."""
        found = _words(self.found)
        return found if self.holds else f"{found}, expected {_words(self.expected)}"

    @property
    def holds(self) -> bool:
        """Return whether it is as it must be."""
        return self.found == self.expected


@dataclass(frozen=True, slots=True)
class Facts:
    """What an act saw (for people) and what it holds against the promise."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
