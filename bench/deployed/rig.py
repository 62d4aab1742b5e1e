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

from bench.deployed.call import ROLES, Watch
from bench.deployed.http_relay import http_relay
from bench.deployed.redis_relay import redis_relay
from bench.deployed.steps import aws_step
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
    return {"model": model, "input": inputs[model], "params": {}}


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
def rig(description: str, latency_ms: int = 100) -> Iterator[tuple[Rig, argparse.Namespace]]:
    """Yield a rig on a private stack, or on the one the command line names, and its arguments."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--dir", type=Path, help="folder of a stack that is up")
    parser.add_argument("--size", type=int, help="how many jobs, where that can be chosen")
    parser.add_argument("--only", help="only parts whose name holds this")
    arguments = parser.parse_args()
    with ExitStack() as opened:
        info = read(arguments.dir) if arguments.dir else None
        if info is None:
            folder = arguments.dir or FOLDER
            info = opened.enter_context(running_stack(folder, latency_ms=latency_ms, report=say))
        yield opened.enter_context(on_stack(info)), arguments


@contextmanager
def on_stack(info: StackInfo) -> Iterator[Rig]:
    """Yield a rig on a running stack."""
    with ExitStack() as opened:
        stage = opened.enter_context(set_stage(info, lambda _what, _done, _total: None))
        dynamodb, clock, ids = client(info.aws_endpoint, "dynamodb"), SystemClock(), SystemIds()
        opened.callback(dynamodb.close)
        tables = {role: Table(dynamodb, name, clock, ids) for role, name in info.tables.items()}
        yield Rig(stage, time.time(), tables)


@contextmanager
def redirected(info: StackInfo, watch: Watch) -> Iterator[None]:
    """Send what the api and the workers say to AWS, Redis and the vendor through relays.

    A function's own environment is where its SDK looks first for an endpoint, on AWS as here.
    """
    lambda_ = client(info.aws_endpoint, "lambda")
    group = info.processes["emulator"]
    before: dict[str, dict[str, str]] = {}
    with ExitStack() as opened:
        for role in ROLES:
            changes = {
                "AWS_ENDPOINT_URL": opened.enter_context(
                    http_relay(role, info.aws_endpoint, group, aws_step, watch)
                ),
                "REDIS_URL": opened.enter_context(redis_relay(role, info.redis_url, group, watch)),
            }
            if role == "worker":
                changes["VENDOR_BASE_URL"] = opened.enter_context(
                    http_relay(role, info.vendor_url, group, _vendor_step, watch)
                )
            for name in (n for r, n in info.functions.items() if r.partition("-")[0] == role):
                found = lambda_.get_function_configuration(FunctionName=name)
                before[name] = found["Environment"]["Variables"]
                _configure(lambda_, name, _redirected(before[name], info.vendor_url, changes))
        try:
            yield
        finally:
            for name, variables in before.items():
                _configure(lambda_, name, variables)
            lambda_.close()


def _redirected(
    variables: Mapping[str, str], vendor_url: str, changes: Mapping[str, str]
) -> dict[str, str]:
    changed = {**variables, **changes}
    if "VENDOR_BASE_URL" in variables:  # keep the path: vendors have their own
        changed["VENDOR_BASE_URL"] = variables["VENDOR_BASE_URL"].replace(
            vendor_url, changes["VENDOR_BASE_URL"]
        )
    return changed


def _configure(lambda_: Any, name: str, variables: Mapping[str, str]) -> None:
    lambda_.update_function_configuration(
        FunctionName=name, Environment={"Variables": dict(variables)}
    )


def _vendor_step(method: str, _headers: Mapping[str, str], path: str, _body: bytes) -> str:
    return f"vendor {method} {path}"


def _json(body: dict[str, Any]) -> bytes:
    return httpx.Request("POST", "http://unused", json=body).content


def say(line: str) -> None:
    """Write a line of progress."""
    print(f"  {line}", flush=True)
