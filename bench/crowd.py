"""Fifty at once, over HTTP: under one key, and with funds for three.

The partner who is short of funds is made for it; its balance is read all the while.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

from bench.deployed.audit import audit
from bench.deployed.report import conclude, grid
from bench.deployed.rig import Rig, asked, await_all_done, new_mark, rig, say
from bench.results import written
from cli.demo.crowd import at_once
from cli.demo.facts import Check
from cli.demo.partner import PartnerClient, Reply
from cli.local.stack import client
from cli.partners import add_partner
from tidegate.clock import SystemClock
from tidegate.doors.ledger import Balance, Ledger
from tidegate.rules import money
from tidegate.rules.tokens import at_most

CROWD = 50
ENOUGH_FOR = 3
PATIENCE = 120.0
SHARED, DEAR = "chat-mini", "image-studio"


@dataclass(slots=True)
class Sampler:
    """Reads one balance over and over, from a thread of its own."""

    ledger: Ledger
    partner: str
    samples: list[Balance] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Sampler:
        """Begin."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        """Read once more, and end."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def lowest(self) -> int:
        """Return the least that was ever there to spend, in micro-credits."""
        return min(sample.available for sample in self.samples)

    def _read(self) -> None:
        while not self._stop.is_set():
            self.samples.append(self.ledger.balance(self.partner))
        self.samples.append(self.ledger.balance(self.partner))


def main() -> int:
    """Run both; return 1 if anything is not as promised."""
    with rig(__doc__ or "") as (stage, _arguments):
        _warm(stage)
        accepted: dict[str, str] = {}
        one_key = _one_key(stage, accepted)
        few_funds, sampled = _few_funds(stage, accepted)
        await_all_done(stage, PATIENCE, say)
        books = audit(stage, accepted)
    _show("50 posts under one key", one_key)
    _show(f"50 posts with funds for 3 ({sampled} readings of the balance)", few_funds)
    conclude(books)
    checks = [*one_key, *few_funds]
    written("crowd", {
        "checks": {check.what: check.outcome for check in checks}, "balance_readings": sampled,
        "audit": asdict(books),
    })  # fmt: skip
    return 0 if all(check.holds for check in checks) and books.clean else 1


def _one_key(stage: Rig, accepted: dict[str, str]) -> list[Check]:
    partner, mark = stage.stage.partner, new_mark()
    body = asked(SHARED, mark)
    before = stage.ledger().balance(stage.info.partners[0].id)
    known = set(stage.jobs())
    stage.stage.vendor.delay(SHARED, 3)
    headers = {"Idempotency-Key": mark}
    replies = at_once(CROWD, lambda _n: partner.send(body, headers))
    accepted[mark] = replies[0].job_id
    await_all_done(stage, PATIENCE, say)
    final = at_once(CROWD, lambda _n: partner.send(body, headers))
    made = set(stage.jobs()) - known
    job = stage.jobs()[accepted[mark]]
    after = stage.ledger().balance(stage.info.partners[0].id)
    return [
        Check("posts refused", sum(reply.status not in {200, 202} for reply in replies), 0),
        Check("jobs made", len(made), 1),
        Check("ids in the answers", len({reply.job_id for reply in replies}), 1),
        Check("posts that made a job", sum(reply.how == "created" for reply in replies), 1),
        Check("statuses once it is final", _counted(final), f"200: {CROWD}"),
        Check("different answers once it is final", len({_ageless(r) for r in final}), 1),
        Check("what the balance lost", before.available - after.available, job.charged),
        Check("entries in the ledger", after.entries - before.entries, 2),
        Check("calls to the vendor", job.starts, 1),
    ]


def _few_funds(stage: Rig, accepted: dict[str, str]) -> tuple[list[Check], int]:
    poor = f"poor-{uuid4().hex[:8]}"
    dynamodb = client(stage.info.aws_endpoint, "dynamodb")
    key = add_partner(dynamodb, stage.info.tables["partners"], poor)
    ledger, entry = stage.ledger(), stage.stage.models[DEAR]
    marks = [new_mark() for _ in range(CROWD)]
    bodies = [asked(DEAR, mark) for mark in marks]
    most = at_most(entry.system, bodies[0]["input"], {"n": 1})
    cost = money.reservation(entry, most, {"n": 1})
    funds = ENOUGH_FOR * cost + cost - 1
    ledger.credit(poor, "bench", funds, SystemClock().now())
    partner = PartnerClient(stage.info.api_url, key, stage.stage.tally)
    try:
        with Sampler(ledger, poor) as sampler:
            replies = at_once(
                CROWD, lambda n: partner.send(bodies[n], {"Idempotency-Key": marks[n]})
            )
            taken = [(m, r) for m, r in zip(marks, replies, strict=True) if r.status == 202]
            accepted.update((mark, reply.job_id) for mark, reply in taken)
            await_all_done(stage, PATIENCE, say)
        shown: dict[str, Any] = partner.get("/v1/usage").json()
    finally:
        partner.close()
    balance = ledger.balance(poor)
    jobs = [job for job in stage.jobs().values() if job.partner == poor]
    say(f"GET /v1/usage: {shown}")
    return [
        Check("statuses of the posts", _counted(replies), f"202: {ENOUGH_FOR}, 402: 47"),
        Check("jobs made", len(jobs), ENOUGH_FOR),
        Check("balance never below zero", sampler.lowest >= 0, True),
        Check("balance at the end", balance.available, funds - ENOUGH_FOR * cost),
        Check("set aside at the end", balance.reserved, 0),
        Check("captured", balance.captured, ENOUGH_FOR * cost),
        Check("entries in the ledger", balance.entries, 1 + 2 * ENOUGH_FOR),
    ], len(sampler.samples)


def _warm(stage: Rig) -> None:
    """Have the front door's processes started: it takes longer than all that is measured."""
    for count in (10, CROWD, CROWD):
        at_once(count, lambda _n: stage.stage.partner.get("/v1/models"))


def _counted(replies: list[Reply]) -> str:
    counts = Counter(reply.status for reply in replies)
    return ", ".join(f"{status}: {number}" for status, number in sorted(counts.items()))


def _ageless(reply: Reply) -> str:
    """Return an answer without the one member that differs from second to second."""
    return str({**reply.body, "cache": {**reply.body["cache"], "age_seconds": None}})


def _show(title: str, checks: list[Check]) -> None:
    grid(title, ("", "found", "as promised"), (
        (check.what, check.outcome, "yes" if check.holds else "NO") for check in checks
    ))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
