"""Whether an answer may be seen, and as what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tidegate.gate import images, written
from tidegate.gate.reason import Reason
from tidegate.gate.structured import Known, Unfit, checked, shown
from tidegate.rules.answer import Expected, Given
from tidegate.rules.catalogue import Entry
from tidegate.rules.normalise import Bounded, unbounded


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one answer."""

    passed: bool
    output: dict[str, Any] | None = field(repr=False)
    """For partners, or None: chat and code `{"text"}`, extract `{"data"}`, image `{}`; both
    where a chat was asked for JSON. JSON is written anew from the value that was checked."""
    reasons: tuple[Reason, ...]


def judge(
    entry: Entry,
    given: Given,
    expected: Expected,
    known: Known,
    bounded: Bounded = unbounded,
) -> Verdict:
    """Return the verdict on an answer.

    Args:
        entry: the model; its task, checks and contract are what the answer is held against.
        given: the answer.
        expected: what of the request it is held against besides.
        known: says which members a set has.
        bounded: where code is read.

    Raises:
        ContractUnusable: the entry's contract is wrong; no answer's fault.
        ReferencesUnavailable: what it refers to could not be looked up; no answer's fault.
    """
    if given.truncated:
        # First: a cut answer may look whole, as a shorter list does.
        return _failed(Reason("truncated", "", "the answer was cut off at a limit"))
    if entry.task == "image":
        wrong = images.problems(
            given.images, expected.images, expected.aspect_ratio, expected.size,
            entry.answer.fewer_images,
        )  # fmt: skip
        return _failed(*(Reason(*each) for each in wrong)) if wrong else _passed({})
    text = given.text or ""
    problem = written.problem(text, entry.answer)
    if problem is not None:
        return _failed(problem)
    if entry.contract is not None or expected.response_schema is not None:
        return _structured(entry, text, expected, known)
    if entry.task == "code":
        program = written.program(text, entry.answer, expected.language, bounded)
        return _failed(program) if isinstance(program, Reason) else _passed({"text": program})
    return _passed({"text": text})


def _structured(entry: Entry, text: str, expected: Expected, known: Known) -> Verdict:
    try:
        value = checked(text, entry.contract, expected.response_schema, known)
    except Unfit as unfit:
        return _failed(*unfit.reasons)
    return _passed(shown(entry, value))


def _passed(output: dict[str, Any]) -> Verdict:
    return Verdict(passed=True, output=output, reasons=())


def _failed(*reasons: Reason) -> Verdict:
    return Verdict(passed=False, output=None, reasons=reasons)
