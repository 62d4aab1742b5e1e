"""`tidegate ledger verify`: reads all money and every job, and says where they do not agree."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from rich.table import Table as Shown

from cli.deployment import Endpoint, Env, Region
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.actions import packed, unpacked
from tidegate.doors.dynamo import Table
from tidegate.doors.items import job_of, job_pk
from tidegate.doors.ledger import Balance, Entry, Ledger
from tidegate.rules import audit
from tidegate.rules.job import OPERATOR, Job
from tidegate.rules.partner_key import is_partner_id

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

app = typer.Typer(help="The money.", no_args_is_help=True)

ROUNDS = 20
"""Times something is read again that changed while it was read."""


@app.callback()
def _group() -> None:
    """Keep `verify` a subcommand, though it is the only one."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What was found of one partner."""

    partner: str
    balance: Balance
    sums: audit.Sums
    """What its entries come to."""
    jobs: int
    differences: list[str]


@app.command()
def verify(
    env: Env,
    partner: Annotated[str | None, typer.Option(help="Only this partner.")] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Prove that the ledger explains every balance and every job; exit code 1 if not."""
    if partner is not None and not (is_partner_id(partner) or partner == OPERATOR):
        raise typer.BadParameter(f"{partner[:60]!r} is no partner's id")
    console = Console() if sys.stdout.isatty() else Console(width=120)
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    try:
        found = audited(client, f"tidegate-{env}-ledger", f"tidegate-{env}-jobs", partner)
    except (ClientError, BotoCoreError) as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from None
    if not show(console, found):
        raise typer.Exit(1)


def audited(
    client: DynamoDBClient, ledger_table: str, jobs_table: str, partner: str | None = None
) -> list[Audited]:
    """Return what was found of every partner, or of one. Work may go on meanwhile."""
    clock, ids = SystemClock(), SystemIds()
    ledger = Ledger(Table(client, ledger_table, clock, ids))
    table = Table(client, jobs_table, clock, ids)
    jobs: dict[str, dict[str, Job]] = {}
    for job in every_job(client, jobs_table):
        jobs.setdefault(job.partner, {})[job.id] = job
    partners = [partner] if partner else sorted({*ledger.partners(), *jobs})
    return [_of_partner(each, ledger, table, jobs.get(each, {})) for each in partners]


def every_job(client: DynamoDBClient, table: str) -> Iterable[Job]:
    """Return every job of a table, read from end to end: for an audit."""
    pages = client.get_paginator("scan").paginate(
        TableName=table,
        ConsistentRead=True,
        FilterExpression="sk = :status",
        ExpressionAttributeValues=packed({":status": "status"}),
    )
    return (job_of(unpacked(item)) for page in pages for item in page["Items"])


def show(console: Console, found: Iterable[Audited]) -> bool:
    """Write what was found, in micro-credits; return whether nothing differs."""
    table = Shown("partner", "", title="Ledger", title_justify="left")
    for name in ("entries", "available", "reserved", "captured", "jobs", "differences"):
        table.add_column(name, justify="right")
    told = list(found)
    for each in told:
        rest = (f"{each.jobs:,}", str(len(each.differences)))
        table.add_row(each.partner, "balance", *_figures(each.balance), *rest)
        table.add_row("", "entries come to", *_figures(each.sums), "", "", end_section=True)
    console.print(table)
    for each in told:
        for difference in each.differences:
            console.print(f"{each.partner}: {difference}", style="red", markup=False)
    total = sum(len(each.differences) for each in told)
    console.print(f"differences: {total}")
    return total == 0


def _figures(of: Balance | audit.Sums) -> tuple[str, ...]:
    return tuple(f"{value:,}" for value in (of.entries, of.available, of.reserved, of.captured))


def _of_partner(partner: str, ledger: Ledger, table: Table, jobs: dict[str, Job]) -> Audited:
    balance, entries, steady = _steady(partner, ledger)
    differences = [*audit.entry_differences(entries)]
    if steady:
        differences += audit.balance_differences(balance, entries)
    else:
        differences.append("the balance kept changing while it was read; verify again")
    of_jobs = audit.by_job(entries)
    names = of_jobs.keys() | jobs.keys()
    suspects = {
        each
        for each in names
        if any(audit.job_differences(each, jobs.get(each), of_jobs.get(each, [])))
    }
    differences += _confirmed(partner, suspects, ledger, table)
    return Audited(partner, balance, audit.sums(entries), len(names), differences)


def _steady(partner: str, ledger: Ledger) -> tuple[Balance, list[Entry], bool]:
    """Return a balance and its entries, and whether they are of one moment."""
    for _ in range(ROUNDS):
        before, entries = ledger.balance(partner), list(ledger.entries(partner))
        if ledger.balance(partner) == before:  # each effect raises its count of entries
            return before, entries, True
    return before, entries, False


def _confirmed(partner: str, suspects: set[str], ledger: Ledger, table: Table) -> list[str]:
    """Return the differences of jobs that are none of the time between two readings.

    A job's money and its version change in one write: where its version is the same before and
    after its entries are read, they are of one moment.
    """
    found: list[str] = []
    for _ in range(ROUNDS):
        if not suspects:
            break
        before = {each: _job(table, each) for each in suspects}
        entries = audit.by_job(ledger.entries(partner))
        after = {each: _job(table, each) for each in suspects}
        still = {each for each in suspects if before[each] == after[each]}
        for job_id in sorted(still):
            job = after[job_id]
            if job is not None and job.partner != partner:
                found.append(f"{job_id}: it is {job.partner}'s job")
            found += audit.job_differences(job_id, job, entries.get(job_id, []))
        suspects -= still
    return found + [f"{each}: it kept changing; verify again" for each in sorted(suspects)]


def _job(table: Table, job_id: str) -> Job | None:
    item = table.get(job_pk(job_id), "status")
    return None if item is None else job_of(item)
