"""A worker that dies amid its call: its job is taken up again.

The kill is the first thing that happens to the stack (see `conftest.py`), this one of the last.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from tests.system.crash import MODEL, Crash
from tests.system.partner import Partner, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

SLACK = 25
"""Seconds for a delivery, a new process and the call, on a machine busy with the other tests."""


def test_its_job_is_completed_by_the_next_delivery(
    crash: Crash, acme: Partner, vendor: Vendor, measured: Callable[[str, float], None]
) -> None:
    bound = entry(MODEL).timeouts.visibility + SLACK
    job = acme.ended_at(crash.location, patience=bound)
    recovery = datetime.fromisoformat(job["finished_at"]).timestamp() - crash.at
    measured("seconds from a worker's death to its job's end", recovery)
    assert (job["status"], job["attempts"], job["error"]) == ("completed", 2, None)
    assert len(vendor.calls(crash.prompt)) == 2
    assert recovery < bound
    repeated = acme.post(ask(MODEL, crash.prompt), crash.key)
    assert repeated.json()["id"] == job["id"]
    assert repeated.headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert repeated.json()["output"] == job["output"]
    assert len(vendor.calls(crash.prompt)) == 2
