from __future__ import annotations

import json

from tests.unit.test_gate_verdict import CHAT, codes, everybody
from tidegate.gate.structured import LONGEST_OF_A_REQUEST
from tidegate.gate.verdict import judge
from tidegate.rules.answer import Expected, Given


def test_an_answer_to_a_schema_of_the_requests_own_is_bounded() -> None:
    expected = Expected(response_schema={"type": "array", "items": {"type": "integer"}})
    long = json.dumps([1] * 50_000)
    assert len(long) > LONGEST_OF_A_REQUEST
    assert codes(judge(CHAT, Given(long), expected, everybody)) == ["too_long"]
    verdict = judge(CHAT, Given("[1, 2.0]"), expected, everybody)
    assert verdict.output == {"text": "[1,2]", "data": [1, 2]}
