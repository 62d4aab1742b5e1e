"""A message moved by hand from the DLQ to its queue: its job begins anew, and is paid for anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.aws import Aws
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

MODEL = "code-command"


def test_its_job_is_opened_again(
    newcomer: Callable[[int], Partner],
    aws: Aws,
    stack: StackInfo,
    vendor: Vendor,
    words: Words,
) -> None:
    partner, prompt = newcomer(1_000_000), words("prompt")
    vendor.fail(MODEL, 500, times=None)
    dead = partner.run(ask(MODEL, prompt), words("key"))
    assert dead["status"] == "dead_lettered"
    assert partner.usage() == {"available": 1_000_000, "reserved": 0, "captured": 0}
    message = aws.message(stack.dlqs[MODEL], dead["id"])
    vendor.forget()
    aws.move(message, stack.queues[MODEL])

    def completed() -> bool:
        shown = partner.http.get(f"/v1/jobs/{dead['id']}").json()
        return bool(shown["status"] == "completed")

    until(completed, patience=30, awaited="end of the job that was opened again")
    job = partner.http.get(f"/v1/jobs/{dead['id']}").json()
    assert (job["replay_count"], job["error"]) == (1, None)
    charged = job["price"]["charged_micro_credits"]
    assert partner.usage() == {
        "available": 1_000_000 - charged, "reserved": 0, "captured": charged,
    }  # fmt: skip
    assert len(vendor.calls(prompt)) == entry(MODEL).retry.attempts + 1
