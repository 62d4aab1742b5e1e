"""Normalisation of an input for its job key; errs towards a miss. The vendor gets the original.

What reads code is imported by the first call that has code: no other cold start pays for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidegate.rules.normalise.bounds import Bounded, unbounded
from tidegate.rules.normalise.structure import Structure
from tidegate.rules.normalise.text import text

__all__ = ["Bounded", "Structure", "normalised", "renamed", "structured", "unbounded"]


def normalised(
    value: Any, how: str, *, ignore_comments: bool = False, bounded: Bounded = unbounded
) -> Any:
    """Return `value` for the key, as the entry's `normalise` says.

    `exact`: as it is; `text`: every string in it by `text()`; `code` and `code-structure`: its
    `code` by `language`, in a form without layout, and the rest of it as it is. Code that cannot
    be read is text, and so is code that takes more than `bounded` lets it.
    """
    if how == "exact":
        return value
    if how in {"code", "code-structure"}:
        from tidegate.rules.normalise import code

        return code.coded(value, how, ignore_comments=ignore_comments, bounded=bounded)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {name: normalised(member, how) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [normalised(item, how) for item in value]
    return value


def structured(
    value: dict[str, Any], *, ignore_comments: bool, bounded: Bounded = unbounded
) -> Structure | None:
    """Return an input of task `code` under canonical names of its local variables.

    None: the code is not read, or no name in it may be changed for certain.
    """
    from tidegate.rules.normalise import code

    return code.structured(value, ignore_comments=ignore_comments, bounded=bounded)


def renamed(
    output: dict[str, Any],
    language: str,
    theirs: Sequence[str],
    ours: Sequence[str],
    *,
    bounded: Bounded = unbounded,
) -> dict[str, Any] | None:
    """Return an answer to code with variables `theirs` as one to the same code with `ours`.

    None where a changed name is anything but a local variable in the answer's code, or where the
    prose around it has the name.
    """
    if list(theirs) == list(ours):
        return output
    from tidegate.rules.normalise import answer

    return answer.renamed(output, language, theirs, ours, bounded)
