"""Work on a stranger's text in a child with limits: what comes of it, and what is left behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.test_code_any import ANYTHING, LANGUAGES
from tidegate.doors.sandbox import SMALL, Sandbox
from tidegate.rules.normalise import normalised, structured

LONG = "x" * (SMALL + 1)


def told(text: str, *more: object) -> object:
    return [len(text), os.getpid(), *more]


def hoard(_text: str) -> int:
    return len(bytearray(200_000_000))


def burn(_text: str) -> int:
    end = time.process_time() + 20
    while time.process_time() < end:
        pass
    return 1


def crash(_text: str) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fail(_text: str) -> None:
    raise ValueError("a text that nobody thought of")


def children() -> float:
    """Return the seconds of CPU time that children have used."""
    used = os.times()
    return used.children_user + used.children_system


def test_short_texts_are_worked_on_here_and_long_ones_in_a_child() -> None:
    assert Sandbox()(told, "x", 1) == [1, os.getpid(), 1]
    length, process, more = Sandbox()(told, LONG, "é")
    assert (length, more) == (len(LONG), "é")
    assert process != os.getpid()


@pytest.mark.parametrize("work", [hoard, burn, crash, fail])
def test_what_takes_too_much_comes_to_nothing_and_to_no_harm(work: object) -> None:
    open_files = len(list(Path("/proc/self/fd").iterdir()))
    sandbox = Sandbox()
    used = children()
    assert sandbox(work, LONG) is None  # type: ignore[arg-type]
    assert children() - used < 1.5
    length, process = sandbox(told, LONG)
    assert length == len(LONG)
    assert len(list(Path("/proc/self/fd").iterdir())) == open_files
    with pytest.raises(ChildProcessError):  # it is not left to be waited for
        os.waitpid(process, os.WNOHANG)


def test_a_text_is_worked_on_once_for_both_its_names() -> None:
    sandbox = Sandbox()
    first = sandbox(told, LONG, 1)
    assert sandbox(told, LONG, 1) == first
    assert sandbox(told, LONG, 2)[1] != first[1]
    assert sandbox(told, LONG, 1)[1] != first[1]  # only the last is remembered


@given(ANYTHING, LANGUAGES)
@settings(max_examples=60, deadline=None)
def test_any_text_has_the_same_names_here_and_in_a_child(code: str, language: str) -> None:
    asked = {"instruction": "a", "language": language, "code": code}
    here, there, again = Sandbox(), Sandbox(small=0), Sandbox(small=0)
    for how in ("code", "code-structure"):
        named = normalised(asked, how)
        for sandbox in (here, there, again):
            assert normalised(asked, how, bounded=sandbox) == named
    found = structured(asked, ignore_comments=False)
    for sandbox in (here, there, again):
        assert structured(asked, ignore_comments=False, bounded=sandbox) == found
