"""The sweeper is called by its schedule, not by us."""

from __future__ import annotations

import json

import pytest

from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.aws import Aws

pytestmark = pytest.mark.system

A_MINUTE_AND_SOME = 90


def test_the_schedule_calls_it(aws: Aws, stack: StackInfo) -> None:
    def swept() -> list[str]:
        return [line for line in aws.log_lines(stack.functions["sweeper"]) if '"swept"' in line]

    lines = until(lambda: swept() or None, patience=A_MINUTE_AND_SOME, awaited="sweep")
    told = json.loads(lines[-1])
    assert (told["service"], told["level"]) == ("sweeper", "INFO")
