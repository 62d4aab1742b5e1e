"""The tables through the shipped adapters: the same verdicts; what is no answer is never judged."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.unit.answer_cases import CATALOGUE_OF_CASES, WORD, Case
from tests.unit.bad_answers import BAD
from tests.unit.bad_envelopes import BROKEN, Broken, sent
from tests.unit.good_answers import GOOD
from tests.unit.vendor_server import SteppingClock
from tidegate.doors.staged import Staged, opened_stage, sealed_stage
from tidegate.errors import VendorError
from tidegate.vendors.base import VendorAnswer, VendorCall
from tidegate.vendors.registry import build

GIVEN: dict[str, Any] = {
    "chat": {"messages": [{"role": "user", "content": "x"}]},
    "code": {"instruction": "x", "code": "x", "language": "python"},
    "extract": {"text": "x"},
    "image": {"prompt": "x"},
}


def answered(model: str, body: bytes, **params: Any) -> VendorAnswer:
    """Return what an adapter makes of a body."""
    entry = CATALOGUE_OF_CASES.models[model]
    transport = httpx.MockTransport(lambda _request: httpx.Response(200, content=body))
    vendor = build(entry, "http://vendor.test", lambda: "sk-1", SteppingClock(), transport)
    return vendor.call(VendorCall(entry, GIVEN[entry.task], params, "key", system=None))


def name(broken: Broken) -> str:
    return broken.name.replace(" ", "_")


@pytest.mark.parametrize("broken", BROKEN, ids=name)
def test_a_broken_envelope_is_the_vendors_failure_and_not_quoted(broken: Broken) -> None:
    with pytest.raises(VendorError) as raised:
        answered(broken.model, broken.body)
    assert (raised.value.code, raised.value.vendor_status) == (broken.error, 200)
    assert WORD not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_every_case_comes_out_of_its_envelope_as_it_went_in() -> None:
    for case in [*BAD, *GOOD]:
        answer = answered(case.model, sent(case), **case.params)
        assert (answer.text, answer.images) == (as_text(case), case.images), case.name
        assert (answer.finish == "truncated") is case.truncated, case.name


def test_a_staged_answer_is_judged_as_it_was_before() -> None:
    """Who takes the work over must come to the same end."""
    for case in [*BAD, *GOOD]:
        said = answered(case.model, sent(case), **case.params)
        staged = Staged("job", said.text, (), case.truncated, 1, 1, 1, None, 0.0)
        again = opened_stage("key", sealed_stage("key", staged))
        assert again == staged, case.name


def as_text(case: Case) -> str | None:
    """Return the text of a case: where models write, no text is an empty one."""
    return None if CATALOGUE_OF_CASES.models[case.model].task == "image" else case.text or ""
