"""The books after an experiment: read from the tables and the vendor, trusting no function."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bench.deployed.rig import MARK, Rig
from cli import ROOT
from cli.local.emulator import CREDENTIALS, REGION
from cli.local.processes import environment
from cli.local.stack import ENVIRONMENT
from tidegate.doors.ledger import Entry
from tidegate.rules.job import OPERATOR, Job


@dataclass(frozen=True, slots=True)
class Audit:
    """What the books say. `lost`, `doubled` and `stuck` are to be 0 of `accepted`."""

    accepted: int
    """Requests that were answered with a job."""
    lost: int
    """Of these, whose job is not there."""
    doubled: int
    """Requests with more than one job, and jobs charged more than once or not as they say."""
    stuck: int
    """Jobs that are not final."""
    unsettled: int
    """Final jobs without exactly one settlement for each reservation."""
    jobs: int
    refreshes: int
    """Of the jobs, those that nobody asked for: a stale answer made anew."""
    ends: dict[str, int]
    vendor_calls: int
    calls_per_work: dict[int, int]
    """How many pieces of work had so many calls; several jobs may be at one."""
    differences: int
    """Between balances and the sums of their entries, by this audit."""
    ledger_verify: str
    """What `tidegate ledger verify` says last."""
    remarks: list[str]
    """What is not as it must be, by name."""

    @property
    def clean(self) -> bool:
        """Return whether all is as promised."""
        wrong = self.lost, self.doubled, self.stuck, self.unsettled, self.differences
        return not any(wrong) and self.ledger_verify == "differences: 0"

    @property
    def mean_calls(self) -> float:
        """Return the vendor's calls per job."""
        return self.vendor_calls / self.jobs if self.jobs else 0.0


def audit(rig: Rig, accepted: Mapping[str, str], *, but_for: str = "") -> Audit:
    """Return what the books say; `accepted` has job ids by key, and a key begins with its mark.

    Calls for the vendor's model `but_for` are somebody else's.
    """
    jobs, remarks = rig.jobs(), list[str]()
    calls = calls_by_mark(rig, {key[:MARK] for key in accepted}, but_for=but_for)
    entries = _entries(rig)
    lost = [key for key, job_id in accepted.items() if job_id not in jobs]
    refreshes = sum(job.partner == OPERATOR for job in jobs.values())
    surplus = max(0, len(jobs) - refreshes - len(set(accepted.values())))
    charged_wrong = [j for j in jobs.values() if j.done and _charged(entries[j.id]) != j.charged]
    stuck = [job for job in jobs.values() if not job.done]
    unsettled = [job for job in jobs.values() if job.done and not _settled(job, entries[job.id])]
    remarks += [f"{key}: lost" for key in lost]
    remarks += [f"{job.id}: charged otherwise than it says" for job in charged_wrong]
    remarks += [f"{job.id}: {job.status}, attempt {job.attempt}" for job in stuck]
    remarks += [f"{job.id}: {job.status} and not settled once" for job in unsettled]
    if surplus:
        remarks.append(f"{surplus} jobs more than requests")
    return Audit(
        accepted=len(accepted),
        lost=len(lost),
        doubled=surplus + len(charged_wrong),
        stuck=len(stuck),
        unsettled=len(unsettled),
        jobs=len(jobs),
        refreshes=refreshes,
        ends=dict(Counter(job.status.value for job in jobs.values())),
        vendor_calls=sum(calls.values()),
        calls_per_work=dict(sorted(Counter(calls.values()).items())),
        differences=_differences(rig),
        ledger_verify=_verify(rig),
        remarks=remarks,
    )


def calls_by_mark(rig: Rig, marks: Iterable[str], *, but_for: str = "") -> dict[str, int]:
    """Return how many calls the vendor had for each mark."""
    bodies = (json.dumps(call["body"]) for call in rig.calls() if call["model"] != but_for)
    found = Counter(mark for body in bodies for mark in set(re.findall("zb[0-9a-f]{32}", body)))
    return {mark: found[mark] for mark in marks}


def _entries(rig: Rig) -> defaultdict[str, list[Entry]]:
    ledger = rig.ledger()
    by_job: defaultdict[str, list[Entry]] = defaultdict(list)
    for partner in ledger.partners():
        for entry in ledger.entries(partner):
            by_job[entry.job_id or ""].append(entry)
    return by_job


def _charged(entries: list[Entry]) -> int:
    return sum(entry.captured for entry in entries)


def _settled(job: Job, entries: list[Entry]) -> bool:
    """Return whether each reservation was resolved, once, and nothing is left set aside."""
    effects = Counter(entry.effect for entry in entries)
    wanted = {f"{job.id}#{n}#settle" for n in range(job.replay_count + 1)}
    if job.reserved:
        wanted |= {f"{job.id}#{n}#reserve" for n in range(job.replay_count + 1)}
    elif not job.charged:
        return not entries
    return effects == Counter(wanted) and sum(entry.reserved for entry in entries) == 0


def _differences(rig: Rig) -> int:
    ledger, wrong = rig.ledger(), 0
    for partner in ledger.partners():
        balance, entries = ledger.balance(partner), list(ledger.entries(partner))
        wrong += balance.available != sum(entry.available for entry in entries)
        wrong += balance.reserved != sum(entry.reserved for entry in entries)
        wrong += balance.captured != sum(entry.captured for entry in entries)
        wrong += balance.entries != len(entries)
        wrong += min(balance.available, balance.reserved, balance.captured) < 0
    return wrong


def _verify(rig: Rig) -> str:
    """Return the last line of `tidegate ledger verify`."""
    command = [sys.executable, "-m", "cli", "ledger", "verify", "--env", ENVIRONMENT]
    command += ["--endpoint-url", rig.info.aws_endpoint, "--region", REGION]
    said = subprocess.run(
        command, cwd=ROOT, env=environment(**CREDENTIALS), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return (said.stdout.strip() or said.stderr.strip()).splitlines()[-1]
