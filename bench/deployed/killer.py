"""Kills a function's process at one step of its work for one job."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field

from bench.deployed.call import Call, When
from bench.deployed.owner import members
from bench.deployed.steps import job_key_in, looks

FIRST = "DynamoDB GetItem job status"
"""What a worker does first for a job, and names it by; an api process looks into Redis first."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step by name, and which of several with that name it is within one run over a job."""

    role: str
    name: str
    number: int = 1

    def __str__(self) -> str:
        """Return the step in a few words."""
        return self.name + (f" ({self.number})" if self.number > 1 else "")


@dataclass(slots=True)
class Plan:
    """Where the process that works for one job is to die."""

    step: Step
    when: When
    killed_at: float | None = None
    """Seconds since the epoch, once it has happened."""


@dataclass(slots=True)
class _Run:
    """One process's work for one job, from its first call on."""

    job_key: str | None
    steps: Counter[str] = field(default_factory=Counter)


class Killer:
    """Watches all calls; plans are by job key, which is known before the job is asked for."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._lock = threading.Lock()
        self._runs: dict[int, _Run] = {}
        self._keys: dict[str, str] = {}
        self._plans: dict[str, Plan] = {}
        self._processes: dict[str, set[int]] = defaultdict(set)
        self.traces: dict[str, list[Step]] = {}
        """The steps of jobs that are to be traced, by job key."""

    def arm(self, job_key: str, plan: Plan) -> None:
        """Let a plan happen to a job."""
        with self._lock:
            self._plans[job_key] = plan

    def trace(self, job_key: str) -> None:
        """Write down all steps of a job."""
        with self._lock:
            self.traces[job_key] = []

    def chill(self, role: str) -> None:
        """Kill all processes of a role, which must be idle: the next ones begin from nothing."""
        with self._lock:
            for pid in self._processes.pop(role, set()) & set(members(self._group)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def seen(self, call: Call) -> When | None:
        """Return when the caller is to be killed, None if it is not."""
        with self._lock:
            self._processes[call.role].add(call.pid)
            self._learn(call)
            if looks(call.step) if call.role == "api" else call.step == FIRST:
                self._runs[call.pid] = _Run(self._key_of(call))
            run = self._runs.get(call.pid)
            if run is None or run.job_key is None:
                return None
            run.steps[call.step] += 1
            step = Step(call.role, call.step, run.steps[call.step])
            if run.job_key in self.traces:
                self.traces[run.job_key].append(step)
            plan = self._plans.get(run.job_key)
            known = call.pid != 0  # else the caller ended meanwhile, and cannot be killed
            if plan is None or plan.killed_at is not None or plan.step != step or not known:
                return None
            plan.killed_at = time.time()
            return plan.when

    def kill(self, call: Call, when: When) -> None:
        """Kill the caller."""
        with self._lock:
            run = self._runs.pop(call.pid, None)
            plan = self._plans.get(run.job_key or "") if run else None
            if plan is not None and when == "after":
                plan.killed_at = time.time()
        os.kill(call.pid, signal.SIGKILL)

    def _learn(self, call: Call) -> None:
        """Note which job is at which work, from the transaction that accepts it."""
        if call.step == "DynamoDB TransactWriteItems accept":
            job_id = re.search(r'"job#(job_\w+)"', call.text)
            run = self._runs.get(call.pid)
            if job_id and run is not None and run.job_key is not None:
                self._keys[job_id[1]] = run.job_key

    def _key_of(self, call: Call) -> str | None:
        if call.role == "api":
            return job_key_in(call.text)
        job_id = re.search(r"job#(job_\w+)", call.text)
        return self._keys.get(job_id[1]) if job_id else None
