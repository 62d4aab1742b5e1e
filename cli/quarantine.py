"""`tidegate quarantine`: answers that failed the gate, looked at, taken along, decided on.

Looking is done with the operator's own credentials. A decision is the replay function's: it is
written down with who made it and why.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import quarantine_export as exporting
from cli.caller import caller
from cli.deployment import Endpoint, Env, Region, model_named
from cli.dlq import CONFIG
from cli.functions import Refused, client, invoke
from cli.quarantine_records import MOST_DAYS, Chosen, State, opened, plain
from cli.quarantine_shown import answer_of, facts
from cli.shown import console, moment, wrong
from tidegate.doors.quarantine import Listed
from tidegate.gate.reason import Code
from tidegate.rules.ids import is_job_id

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

app = typer.Typer(
    help="Answers that failed the gate: list, show, export, release, discard.",
    no_args_is_help=True,
)

COLUMNS = ("job_id", "model", "partner", "at", "codes", "version", "state")

MOST_JOBS = 100
"""As the function takes them."""

Model = Annotated[
    str | None, typer.Option(help="Of this model; default: of all.", callback=model_named)
]
Days = Annotated[int, typer.Option(min=1, max=MOST_DAYS, help="Not older than so many days.")]
OfState = Annotated[State, typer.Option(help="What was decided: nothing yet is `open`.")]
OfCode = Annotated[Code | None, typer.Option(help="Only with this reason.", metavar="CODE")]
Partner = Annotated[str | None, typer.Option(help="Only of this partner.")]
Jobs = Annotated[list[str], typer.Argument(metavar="JOB...", help=f"Ids, {MOST_JOBS} at most.")]
Why = Annotated[str, typer.Option(help="For the record.")]


@app.command("list")
def list_(
    env: Env,
    model: Model = None,
    days: Days = 7,
    state: OfState = "open",
    code: OfCode = None,
    partner: Partner = None,
    limit: Annotated[int, typer.Option(min=1, help="Show the newest so many.")] = 100,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Show what failed, the newest first, and how often for which reason."""
    screen = console()
    try:
        kept = opened(env, region, endpoint_url)
        found = kept.found(Chosen(model, days, state, code, partner), time.time())
    except (ClientError, BotoCoreError) as error:
        wrong(str(error))
    if found:
        _show(screen, found[:limit])
    if len(found) > limit:
        print(f"The newest {limit:,} of {len(found):,}; --limit shows more.")
    if model is not None and model not in kept.models:
        print(f"The catalogue has no model {model}; it has {', '.join(kept.models)}.")
    print(counted(found) or "nothing there")


@app.command()
def show(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A job's id.")],
    env: Env,
    attempt: Annotated[int | None, typer.Option(help="Not the latest that failed.")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="And the answer, or its images' keys.")
    ] = False,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Show why a job's answer failed, who made it, and what was decided."""
    if not is_job_id(job):
        raise typer.BadParameter(f"{job[:80]!r} is no job's id: they begin with job_")
    try:
        kept = opened(env, region, endpoint_url)
        record = kept.quarantine.record(job, attempt)
        if record is None:
            wrong(f"there is no record of {job}: never in quarantine, or over {MOST_DAYS} days ago")
        status = kept.jobs.load(job)
        answer = kept.quarantine.raw(record) if raw else None
    except (ClientError, BotoCoreError) as error:
        wrong(str(error))
    for name, value in facts(record, status):
        print(f"{name:<34}{plain(value)}")
    if raw:
        print()
        print(plain(answer_of(answer)))


@app.command()
def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="- is standard output.")],
    env: Env,
    model: Model = None,
    days: Days = 7,
    state: OfState = "open",
    code: OfCode = None,
    partner: Partner = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The newest so many.")] = None,
    no_input: Annotated[bool, typer.Option("--no-input", help="Leave out what was asked.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Write answers that failed as JSON lines, for evaluation sets. It holds what was asked."""
    try:
        target = exporting.target(file, force=force)
        kept = opened(env, region, endpoint_url)
        found = kept.found(Chosen(model, days, state, code, partner), time.time())[:limit]
        written = exporting.write(target, kept, found, asked=not no_input)
    except exporting.Refused as refused:
        raise typer.BadParameter(str(refused)) from None
    except (ClientError, BotoCoreError, OSError) as error:
        wrong(str(error))
    typer.echo(f"records written: {written:,}", err=True)


@app.command()
def release(
    jobs: Jobs, env: Env, why: Why, region: Region = None, endpoint_url: Endpoint = None
) -> None:
    """Give partners their answers as they are: you have looked at them, and they may have them."""
    _decide("release", jobs, env, why, region, endpoint_url)


@app.command()
def discard(
    jobs: Jobs, env: Env, why: Why, region: Region = None, endpoint_url: Endpoint = None
) -> None:
    """Remove answers that are not worth keeping; their jobs stay as they ended."""
    _decide("discard", jobs, env, why, region, endpoint_url)


def decided(
    functions: LambdaClient, env: str, action: str, jobs: Sequence[str], by: str, why: str
) -> list[dict[str, Any]]:
    """Return what became of each job's answer: its `job_id`, `result` and `reason`.

    Raises:
        Refused: the function could not be reached, failed, or says that the request is wrong.
    """
    request = {"quarantine": action, "job_ids": list(jobs), "by": by, "why": why}
    busy = "the function is busy with a replay; try again when it has ended"
    items: list[dict[str, Any]] = invoke(functions, f"tidegate-{env}-replay", request, busy=busy)[
        "items"
    ]
    return items


def counted(found: Sequence[Listed]) -> str:
    """Return how many records there are per model and code, in a line."""
    models = Counter(one.model for one in found)
    codes = Counter((one.model, code) for one in found for code in one.codes)
    told = []
    for model, number in models.most_common():
        mine = ((code, many) for (of, code), many in codes.most_common() if of == model)
        told.append(f"{model}: {number:,} ({', '.join(f'{many:,} {code}' for code, many in mine)})")
    return "; ".join(told)


def _decide(
    action: str, jobs: list[str], env: str, why: str, region: str | None, endpoint_url: str | None
) -> None:
    if len(jobs) > MOST_JOBS:
        raise typer.BadParameter(f"{len(jobs)} jobs; {MOST_JOBS} at most")
    by = caller(region, endpoint_url)
    try:
        functions = client(region, endpoint_url, CONFIG)
        items = decided(functions, env, action, jobs, by, why)
    except (Refused, ClientError, BotoCoreError) as error:
        wrong(str(error))
    table = Table("job_id", "result", "reason")
    for item in items:
        table.add_row(*(Text(item[name] or "") for name in ("job_id", "result", "reason")))
    console().print(table)
    results = Counter(item["result"] for item in items)
    print(", ".join(f"{number} {result}" for result, number in results.most_common()))
    if results["refused"] or results["failed"]:
        raise typer.Exit(1)


def _show(screen: Console, found: Sequence[Listed]) -> None:
    table = Table(*COLUMNS)
    for one in found:
        codes = ", ".join(one.codes)
        row = (one.job_id, one.model, one.partner, moment(one.at), codes, one.version, one.state)
        table.add_row(*map(Text, row))
    screen.print(table)
