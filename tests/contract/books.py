"""An audit of the money that shares no code with what moves it: raw items, added up."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tests.pipeline import Pipeline
from tidegate.doors.actions import unpacked
from tidegate.doors.items import job_of
from tidegate.rules.job import Job

AMOUNTS = ("available", "reserved", "captured")


def check(pipeline: Pipeline) -> dict[str, dict[str, int]]:
    """Return each partner's balance, after holding it against entries and jobs."""
    items = [unpacked(item) for item in pipeline.dynamodb.scan(TableName="ledger")["Items"]]
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    effects: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        if item["sk"] == "balance":
            continue
        partner = item["pk"].removeprefix("ledger#")
        sums[partner].update({name: item[name] for name in AMOUNTS})
        sums[partner]["entries"] += 1
        if item.get("job_id"):
            _, generation, kind = item["sk"].split("#")
            effects[item["job_id"]][f"{generation}#{kind}"] += 1
    balances = {i["pk"].removeprefix("balance#"): i for i in items if i["sk"] == "balance"}
    for partner, balance in balances.items():
        for name in (*AMOUNTS, "entries"):
            assert balance[name] == sums[partner][name], (partner, name)
        assert min(balance[name] for name in AMOUNTS) >= 0, balance
    for job in jobs(pipeline):
        _settled_once(job, effects[job.id])
    return {partner: {n: b[n] for n in AMOUNTS} for partner, b in balances.items()}


def jobs(pipeline: Pipeline) -> list[Job]:
    """Return every job there is."""
    found = [unpacked(item) for item in pipeline.items()]
    return [job_of(item) for item in found if item["sk"] == "status"]


def _settled_once(job: Job, effects: Counter[str]) -> None:
    wanted: dict[str, Any] = {}
    if job.reserved:
        for generation in range(job.replay_count + 1):
            wanted[f"{generation}#reserve"] = 1
            if generation < job.replay_count or job.done:
                wanted[f"{generation}#settle"] = 1
    elif job.charged:
        wanted = {"0#settle": 1}
    assert dict(effects) == wanted, (job.id, job.status, dict(effects))
