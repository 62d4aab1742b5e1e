"""`tidegate dlq`: what was given up, looked at, run again or thrown away.

The replay function does it, where the data is; this asks for it and shows what it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import boto3
import typer
from botocore.config import Config
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import functions, shown
from cli.deployment import Endpoint, Env, Region
from cli.functions import Refused as Refused

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

app = typer.Typer(help="Dead-letter queues: list, replay, discard.", no_args_is_help=True)

LONGEST = 910
"""Seconds to wait for the function, which may run for 900."""

CONFIG = Config(
    connect_timeout=5,
    read_timeout=LONGEST,
    tcp_keepalive=True,
    retries={"total_max_attempts": 1},
)
"""One try: a second one would run beside the first."""

COLUMNS = ("job_id", "partner", "status", "code", "sent_at", "replay_count", "result", "reason")

Model = Annotated[str, typer.Option(help="Whose dead-letter queue: a name of the catalogue.")]
JobIds = Annotated[list[str] | None, typer.Option("--id", help="A job's id; repeatable.")]
MessageIds = Annotated[
    list[str] | None, typer.Option("--message-id", help="A message's id in the DLQ; repeatable.")
]
Partner = Annotated[str | None, typer.Option(help="Only jobs of this partner.")]
Code = Annotated[str | None, typer.Option(help="Only jobs that ended with this error code.")]
Status = Annotated[str | None, typer.Option(help="Only jobs in this state, e.g. dead_lettered.")]
OlderThan = Annotated[float | None, typer.Option(help="Only messages sent so many seconds ago.")]
Rate = Annotated[float, typer.Option(help="Jobs sent again per second, at most.")]
Limit = Annotated[int, typer.Option(help="At most so many messages.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without ids, the default only looks.")]


@app.command("list")
def list_(
    model: Model,
    env: Env,
    id_: JobIds = None,
    message_id: MessageIds = None,
    partner: Partner = None,
    code: Code = None,
    status: Status = None,
    older_than: OlderThan = None,
    limit: Limit = 1000,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Show what is in a model's dead-letter queue, and why."""
    request = asked("list", model, id_, message_id, _filter(partner, code, status, older_than))
    _run(_client(region, endpoint_url), env, request, limit)


@app.command()
def replay(
    model: Model,
    env: Env,
    id_: JobIds = None,
    message_id: MessageIds = None,
    partner: Partner = None,
    code: Code = None,
    status: Status = None,
    older_than: OlderThan = None,
    rate: Rate = 5.0,
    limit: Limit = 1000,
    yes: Yes = False,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Run jobs again: by ids at once, otherwise with --yes; reserves their price anew."""
    request = asked("replay", model, id_, message_id, _filter(partner, code, status, older_than))
    request |= {"rate_per_second": rate} | _dry(request, yes)
    _run(_client(region, endpoint_url), env, request, limit)


@app.command()
def discard(
    model: Model,
    env: Env,
    id_: JobIds = None,
    message_id: MessageIds = None,
    partner: Partner = None,
    code: Code = None,
    status: Status = None,
    older_than: OlderThan = None,
    limit: Limit = 1000,
    yes: Yes = False,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Throw messages away: by ids at once, otherwise with --yes; their jobs stay as they ended."""
    request = asked("discard", model, id_, message_id, _filter(partner, code, status, older_than))
    request |= _dry(request, yes)
    _run(_client(region, endpoint_url), env, request, limit)


def asked(
    action: str,
    model: str,
    job_ids: list[str] | None,
    message_ids: list[str] | None,
    filters: dict[str, Any],
) -> dict[str, Any]:
    """Return the function's event, without what was not given."""
    given = {"job_ids": job_ids, "message_ids": message_ids, "filter": filters}
    return {"action": action, "model": model} | {name: v for name, v in given.items() if v}


def answers(
    client: LambdaClient, env: str, request: dict[str, Any], limit: int
) -> Iterator[dict[str, Any]]:
    """Yield the function's answers, asking on while there is more and the last one did something.

    Raises:
        Refused: the function says why it did not.
    """
    left, before = limit, None
    while True:
        more: dict[str, Any] = {} if before is None else {"before": before}
        answer = invoke(client, env, {**request, **more, "limit": min(left, 5000)})
        yield answer
        left -= answer["done"]
        before = before or answer["begun_at"]
        if answer["dry_run"] or not answer["more"] or not answer["done"] or left <= 0:
            return


def invoke(client: LambdaClient, env: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the replay function's answer to one request.

    Raises:
        Refused: it could not be reached, failed, or says that the request is wrong.
    """
    busy = "another replay is running; try again when it has ended"
    return functions.invoke(client, f"tidegate-{env}-replay", request, busy=busy)


def _run(client: LambdaClient, env: str, request: dict[str, Any], limit: int) -> None:
    console = shown.console()
    items: dict[tuple[str | None, str | None], dict[str, Any]] = {}
    last: dict[str, Any] = {}
    try:
        for last in answers(client, env, request, limit):
            if last["hidden"] and not items:  # later it may be this run's own that are counted
                console.print(f"About {last['hidden']} messages are out of sight for up to a "
                              "minute: with another reader, or a run that was killed.")  # fmt: skip
            items |= {(each["message_id"], each["job_id"]): each for each in last["items"]}
    except Refused as refused:
        console.print(str(refused), style="red", markup=False)
        raise typer.Exit(1) from None
    finally:
        if items:
            _show(console, list(items.values()))
    results = Counter(each["result"] for each in items.values())
    told = ", ".join(f"{number} {result}" for result, number in results.most_common())
    console.print(f"{request['model']}: {told or 'nothing there'}", markup=False)
    if last["more"]:
        console.print("There is more: raise --limit, or narrow the filter.")
    if last["dry_run"] and request["action"] != "list" and items:
        console.print("Nothing was done; --yes does it.")
    if results["failed"]:
        raise typer.Exit(1)


def _show(console: Console, items: list[dict[str, Any]]) -> None:
    table = Table(*COLUMNS)
    for item in items:
        job = item["job_id"] or f"message {item['message_id']}"
        rest = ("" if item[name] is None else str(item[name]) for name in COLUMNS[1:])
        table.add_row(*map(Text, (job, *rest)))  # a reason may be anybody's words: no markup
    console.print(table)


def _dry(request: dict[str, Any], yes: bool) -> dict[str, bool]:
    """Return what to say of a dry run: in bulk it is one without --yes, named is meant."""
    return {} if {"job_ids", "message_ids"} & request.keys() else {"dry_run": not yes}


def _filter(
    partner: str | None, code: str | None, status: str | None, older_than: float | None
) -> dict[str, Any]:
    given = {
        "partner": partner, "code": code, "status": status, "older_than_seconds": older_than,
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


def _client(region: str | None, endpoint_url: str | None) -> LambdaClient:
    return boto3.client("lambda", region_name=region, endpoint_url=endpoint_url, config=CONFIG)
