"""A worker that dies amid its call: its job is taken up again.

The kill is the first thing that happens to the stack (see `conftest.py`), this one of the last.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.crash import MODEL, Crash, in_flight
from tests.system.partner import Partner, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

SLACK = 25
"""Seconds for a delivery, a new process and the call, on a machine busy with the other tests."""


def test_its_job_is_completed_by_the_next_delivery(
    crash: Crash,
    acme: Partner,
    stack: StackInfo,
    vendor: Vendor,
    measured: Callable[[str, float], None],
) -> None:
    bound = entry(MODEL).timeouts.visibility + SLACK
    job = acme.ended_at(crash.location, patience=bound)
    recovery = datetime.fromisoformat(job["finished_at"]).timestamp() - crash.at
    measured("seconds from a worker's death to its job's end", recovery)
    assert (job["status"], job["attempts"], job["error"]) == ("completed", 2, None)
    assert len(vendor.calls(crash.prompt)) == 2
    assert recovery < bound
    # Its place among the calls in flight was kept as long as it could have lived, and no longer.
    assert crash.places == 1
    until(lambda: in_flight(stack) == 0, patience=5, awaited="place of the dead worker")
    repeated = acme.post(ask(MODEL, crash.prompt), crash.key)
    assert repeated.json()["id"] == job["id"]
    assert repeated.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert repeated.json()["output"] == job["output"]
    assert len(vendor.calls(crash.prompt)) == 2
