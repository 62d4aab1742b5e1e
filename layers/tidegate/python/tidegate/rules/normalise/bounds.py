"""Where work on a stranger's text is done: rules have no I/O, and so only say what is to be done.

The parsers' work has no bound of its own. `a=>` 2,000 times is 6 KB and takes Java's 1.3 GB, all
of it at the end of the text, where nothing of ours runs. The doors' sandbox bounds it from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Bounded(Protocol):
    """Does pure work on a text, perhaps elsewhere."""

    def __call__(self, work: Callable[..., Any], text: str, *args: Any) -> Any:
        """Return what comes of the work, a JSON value; None if it took more than it may."""


def unbounded(work: Callable[..., Any], text: str, *args: Any) -> Any:
    """Do the work here, without a bound: for texts that are trusted."""
    return work(text, *args)
