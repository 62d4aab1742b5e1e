"""The deployed stack under experiment: a private one, or one that is up already."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from cli import ROOT
from cli.demo.partner import PartnerClient, Reply
from cli.demo.stage import Stage, set_stage
from cli.local.stack import StackInfo, client, read, running_stack
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.items import job_of, job_pk
from tidegate.doors.ledger import Ledger
from tidegate.rules import catalogue, keys, request
from tidegate.rules.epochs import Epochs
from tidegate.rules.job import Job

FOLDER = ROOT / ".local" / "bench"
MARK = 34
"""Characters of a mark."""

INSIST = 60.0
"""Seconds for which a client sends its request again after a 5xx or a lost connection."""


@dataclass(frozen=True, slots=True)
class Rig:
    """A running stack with clients on it."""

    stage: Stage
    begun: float
    """Seconds since the epoch; what was there before is not of this experiment."""
    tables: Mapping[str, Table]
    """By role."""

    @property
    def info(self) -> StackInfo:
        """Return where everything is."""
        return self.stage.info

    def jobs(self) -> dict[str, Job]:
        """Return the jobs of this experiment by id."""
        return {job.id: job for job in self.stage.books.jobs() if job.created_at >= self.begun}

    def until_done(self, job_id: str, patience: float) -> None:
        """Return when a job is final, or after `patience` seconds."""
        table, until = self.tables["jobs"], time.monotonic() + patience
        while time.monotonic() < until:
            item = table.get(job_pk(job_id), "status")
            if item is not None and job_of(item).done:
                return
            time.sleep(1)

    def ledger(self) -> Ledger:
        """Return the ledger, to be read."""
        return Ledger(self.tables["ledger"])

    def calls(self) -> list[dict[str, Any]]:
        """Return the vendor's own journal: every request it answered."""
        found = httpx.get(f"{self.info.vendor_url}/_llmock/requests", timeout=60, trust_env=False)
        requests: list[dict[str, Any]] = found.raise_for_status().json()["requests"]
        return requests

    def job_key(self, partner: str, key: str, body: dict[str, Any]) -> str:
        """Return the job key that a post will have."""
        models = catalogue.Catalogue(models=dict(self.stage.models))
        asked = request.parse(_json(body), models)
        claim = keys.claim_id(partner, "jobs", key)
        entry, now = models.models[asked.model], time.time()
        meaning = keys.meaning(asked, entry, partner=partner, claim=claim, now=now)
        return keys.job_key(meaning, Epochs())


@dataclass(frozen=True, slots=True)
class Insisted:
    """What a client got that repeats its post, under the same key, until it is answered."""

    reply: Reply
    tries: int


def insist(partner: PartnerClient, body: dict[str, Any], key: str) -> Insisted:
    """Post until there is an answer that is none of ours or the network's failing.

    Raises:
        TimeoutError: there was none.
    """
    until, tries = time.monotonic() + INSIST, 0
    while time.monotonic() < until:
        tries += 1
        try:
            reply = partner.send(body, {"Idempotency-Key": key})
        except httpx.HTTPError:
            time.sleep(0.5)
            continue
        if reply.status < 500:
            return Insisted(reply, tries)
        time.sleep(0.5)
    raise TimeoutError(f"no answer in {INSIST:g} s, {tries} tries")


def asked(model: str, mark: str) -> dict[str, Any]:
    """Return the body that asks a model for something nobody asked for before."""
    inputs: dict[str, dict[str, Any]] = {
        "chat-mini": {"messages": [{"role": "user", "content": mark}]},
        "chat-claude": {"messages": [{"role": "user", "content": mark}]},
        "code-command": {"instruction": mark, "code": "x = 1\n", "language": "python"},
        "image-studio": {"prompt": mark},
        "risk-report": {"text": mark},
    }
    # An image is used again only if it is asked for with a seed.
    params = {"seed": 7} if model == "image-studio" else {}
    return {"model": model, "input": inputs[model], "params": params}


def new_mark() -> str:
    """Return text that is in no other request, and with which its keys begin."""
    return f"zb{uuid4().hex}"


def await_all_done(
    rig: Rig, patience: float, tell: Callable[[str], None], every: float = 1.0
) -> dict[str, Job]:
    """Return all jobs once all are final, or after `patience` seconds; look every `every`."""
    until, told = time.monotonic() + patience, ""
    while True:
        jobs = rig.jobs()
        left = [job for job in jobs.values() if not job.done]
        line = f"{len(jobs) - len(left)} of {len(jobs)} jobs are final"
        if line != told:
            tell(line)
        told = line
        if not left or time.monotonic() > until:
            return jobs
        time.sleep(every)


@contextmanager
def rig(
    description: str, latency_ms: int = 100, overlay: str = ""
) -> Iterator[tuple[Rig, argparse.Namespace]]:
    """Yield a rig on a private stack, or on the one the command line names, and its arguments.

    `overlay` are catalogue keys (TOML) that are other than usual; the stack is then a private one.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--dir", type=Path, help="folder of a stack that is up")
    parser.add_argument("--size", type=int, help="how many jobs, where that can be chosen")
    parser.add_argument("--only", help="only parts whose name holds this")
    arguments = parser.parse_args()
    with ExitStack() as opened:
        info = read(arguments.dir) if arguments.dir else None
        if info is not None and overlay:
            parser.error("this part needs a stack of its own: name another folder, or none")
        if info is None:
            stack = running_stack(
                arguments.dir or FOLDER, latency_ms=latency_ms, report=say,
                overlay=overlay_file(overlay) if overlay else None,
            )  # fmt: skip
            info = opened.enter_context(stack)
        yield opened.enter_context(on_stack(info)), arguments


def overlay_file(keys: str) -> Path:
    """Return a file of catalogue keys (TOML)."""
    path = FOLDER / "overlay.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(keys, encoding="utf-8")
    return path


@contextmanager
def on_stack(info: StackInfo) -> Iterator[Rig]:
    """Yield a rig on a running stack."""
    with ExitStack() as opened:
        stage = opened.enter_context(set_stage(info, lambda _what, _done, _total: None))
        dynamodb, clock, ids = client(info.aws_endpoint, "dynamodb"), SystemClock(), SystemIds()
        opened.callback(dynamodb.close)
        tables = {role: Table(dynamodb, name, clock, ids) for role, name in info.tables.items()}
        yield Rig(stage, time.time(), tables)


def _json(body: dict[str, Any]) -> bytes:
    return httpx.Request("POST", "http://unused", json=body).content


def say(line: str) -> None:
    """Write a line of progress."""
    print(f"  {line}", flush=True)
