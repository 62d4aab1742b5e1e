"""Answers that failed, as JSON lines: what they were asked, what they said, what was wrong.

A file is there whole or not at all, for its owner's eyes: it holds partners' words.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from cli.quarantine_records import Kept
from tidegate.clock import rfc3339
from tidegate.doors.quarantine import Listed
from tidegate.doors.staged import Staged
from tidegate.errors import DoorError
from tidegate.rules.quarantine import Decision, Record

STANDARD_OUTPUT = "-"

ASKED = ("input", "params", "system", "response_schema")
"""Of what was asked."""


class Refused(Exception):
    """The file is not to be written; `str()` says why."""


def target(file: str, *, force: bool) -> Path | None:
    """Return where to write; None is standard output.

    Raises:
        Refused: something is there that is not to be overwritten.
    """
    if file == STANDARD_OUTPUT:
        return None
    path = Path(file)
    if path.exists() and not path.is_file():
        raise Refused(f"{file} is no file")
    if path.exists() and not force:
        raise Refused(f"{file} is there already; --force overwrites it")
    return path


def write(path: Path | None, kept: Kept, found: Sequence[Listed], *, asked: bool) -> int:
    """Write a line for each record that is still there, and return how many.

    Raises:
        OSError: the file cannot be written; what was there before is as it was.
    """
    written = 0
    with _progress(len(found)) as step, _opened(path) as out:
        for one in found:
            line = _line(kept, one, asked=asked)
            step()
            if line is not None:
                # ASCII: a bad answer may hold what has no UTF-8, or ends a line for some.
                out.write(json.dumps(line) + "\n")
                written += 1
    return written


def _line(kept: Kept, one: Listed, *, asked: bool) -> dict[str, Any] | None:
    record = kept.quarantine.record(one.job_id, one.attempt)
    if record is None:  # its thirty days have ended just now
        return None
    return {
        "job_id": record.job_id,
        "model": record.model,
        "task": record.task,
        "at": rfc3339(record.at),
        "attempt": record.attempt,
        **(_asked(kept, record) if asked else {}),
        "answer": _answer(record, kept.quarantine.raw(record)),
        "cut": record.cut,
        "reasons": [asdict(why) for why in record.reasons],
        "made_by": record.made_by,
        "correlation": record.correlation,
        "decision": _decision(record.decision),
    }


def _asked(kept: Kept, record: Record) -> dict[str, Any]:
    try:
        stored = kept.jobs.input(record.job_id)
    except DoorError:  # it is gone
        stored = {}
    return {name: stored.get(name) for name in ASKED}


def _answer(record: Record, raw: Staged | None) -> Any:
    """Return what was answered: text, or images in the assets bucket; None if it is gone."""
    if raw is None:
        return None
    return [asdict(image) for image in raw.images] if record.task == "image" else raw.text


def _decision(made: Decision | None) -> dict[str, Any] | None:
    return None if made is None else {**asdict(made), "at": rfc3339(made.at)}


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """Show how far it is, where somebody looks; what is given is called for each step."""
    console = Console(stderr=True)
    columns = (TextColumn("export"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)


@contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    """Give what to write to; the file gets its name when all is written."""
    if path is None:
        yield sys.stdout
        return
    # Only its owner may read what `tempfile` makes.
    with NamedTemporaryFile(
        "w", encoding="ascii", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as out:
        try:
            yield out  # type: ignore[misc]  # it is one in all but name
            out.flush()
            os.fsync(out.fileno())
            Path(out.name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(out.name).unlink()
            raise
