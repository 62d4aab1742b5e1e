"""The gate against the tables: no bad answer passes, no good one fails, and nothing is quoted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.unit.answer_cases import MODELS, NUMBER, WORD, Case
from tests.unit.bad_answers import BAD
from tests.unit.good_answers import GOOD
from tidegate.gate.reason import CODES, MAX_REASONS
from tidegate.rules.paths import MAX_POINTER
from tidegate.rules.strict_json import loads


def name(case: Case) -> str:
    return case.name.replace(" ", "_")


def test_the_tables_know_every_way_to_fail_and_say_of_each_case_who_it_is() -> None:
    codes = Counter(case.code for case in BAD)
    assert codes.keys() == CODES
    assert min(codes.values()) >= 2
    assert all(case.code == "" for case in GOOD)
    assert len({case.name for case in [*BAD, *GOOD]}) == len(BAD) + len(GOOD)
    assert len([case for case in BAD if says_a_canary(case)]) > 0.8 * len(BAD)


def says_a_canary(case: Case) -> bool:
    return WORD in case.says or str(NUMBER) in case.says


@pytest.mark.parametrize("case", BAD, ids=name)
def test_a_bad_answer_fails_by_its_name_at_its_place_and_is_not_quoted(case: Case) -> None:
    verdict = case.judged
    assert (verdict.passed, verdict.output) == (False, None)
    assert 1 <= len(verdict.reasons) <= MAX_REASONS
    first = verdict.reasons[0]
    assert (first.code, first.pointer) == (case.code, case.pointer)
    for reason in verdict.reasons:
        assert reason.code in CODES
        assert len(reason.pointer) <= MAX_POINTER
        assert WORD.lower() not in reason.message.lower()
        assert str(NUMBER) not in reason.message
    assert WORD not in repr(verdict)


def written(value: Any) -> str:
    """Return a value as text: 1, 1.0 and true are equal in Python."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("case", GOOD, ids=name)
def test_a_good_answer_passes_as_what_it_is(case: Case) -> None:
    verdict = case.judged
    assert verdict.reasons == ()
    output = verdict.output
    assert output is not None
    task = MODELS[case.model]["task"]
    stored = json.dumps(output, ensure_ascii=False, allow_nan=False).encode()
    assert written(json.loads(stored)) == written(output)
    if task == "image":
        assert output == {}
    elif task == "extract":
        assert written(output) == written({"data": case.value})
    elif "data" in output:
        assert written(output["data"]) == written(case.value) == written(loads(output["text"]))
    else:
        assert output == {"text": case.text if case.value is None else case.value}


@pytest.mark.parametrize("case", [case for case in GOOD if case.text], ids=name)
def test_a_good_answer_that_was_cut_off_fails(case: Case) -> None:
    cut = Case(case.name, case.model, case.text, truncated=True)
    assert [reason.code for reason in cut.judged.reasons] == ["truncated"]
