"""`tidegate references`: the sets that answers may refer to, as far as they are in the deployment.

A set is loaded whole, and the old one is valid until the new one is. Sets in PostgreSQL are filled
by whoever that database belongs to.
"""

from __future__ import annotations

from typing import Annotated

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table as Rows
from rich.text import Text

from cli.caller import caller
from cli.deployment import Endpoint, Env, Region
from cli.local.stack import CATALOGUE
from cli.reference_file import Members, Unusable, read
from cli.shown import console, moment, wrong
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.reference_sets import Loaded, ReferenceSets
from tidegate.doors.references import POSITIVE
from tidegate.doors.references_dynamodb import REMEMBERED, Current, DynamoSource
from tidegate.errors import Conflict, DoorError
from tidegate.rules import catalogue
from tidegate.rules.contracts import ReferenceSource

app = typer.Typer(help="Reference sets: load one, show what is loaded.", no_args_is_help=True)

FORGOTTEN = POSITIVE + REMEMBERED
"""Seconds after which no worker takes for a member what was one."""

LONGEST_WHY = 200
"""Characters, as everywhere."""

SetName = Annotated[str, typer.Argument(metavar="SET", help="A set of the catalogue.")]


@app.command()
def load(
    set_name: SetName,
    file: Annotated[
        typer.FileBinaryRead,
        typer.Argument(help="One value a line, UTF-8; - is standard input."),
    ],
    env: Env,
    why: Annotated[str, typer.Option(help="For whoever wonders what is in it.")],
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Make the values of a file the members of a set, all of them and no others, at once."""
    _own(env, set_name)
    if not 1 <= len(why) <= LONGEST_WHY:
        raise typer.BadParameter(f"--why: 1 to {LONGEST_WHY} characters")
    try:
        members = read(file)
    except Unusable as error:
        raise typer.BadParameter(f"{error}; nothing is loaded") from None
    by = caller(region, endpoint_url)
    try:
        done = _loaded(_sets(env, region, endpoint_url), set_name, members, by, why)
    except Conflict as error:
        wrong(str(error))
    except (DoorError, ClientError, BotoCoreError) as error:
        wrong(f"{error}; `references show {set_name}` says what is valid")
    before = f"{done.before.members:,} before" if done.before else "none before"
    print(f"{set_name}: {done.current.members:,} members, {before}")
    if members.blank or members.doubles:
        print(f"Left out: {members.blank:,} blank lines, {members.doubles:,} repeated values.")
    if done.left is not None:
        print(f"What was valid earlier could not be removed ({done.left}); the next load tries.")
    print(f"New members count at once; what is none any more, within {FORGOTTEN:.0f} s.")


@app.command()
def show(
    env: Env,
    set_name: Annotated[
        str | None, typer.Argument(metavar="[SET]", help="One set; default: all.")
    ] = None,
    has: Annotated[
        str | None, typer.Option(help="Say whether this value is a member; exit 1 if not.")
    ] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Show what is loaded: how many members, when, by whom and why."""
    if has is not None and set_name is None:
        raise typer.BadParameter("--has needs a set")
    sets = {set_name: _own(env, set_name)} if set_name else _all(env)
    table = _table(env, region, endpoint_url)
    door = ReferenceSets(table, SystemClock(), SystemIds())
    try:
        if set_name and has is not None:
            _tell(set_name, DynamoSource(table, set_name, SystemClock()), has)
            return
        found = {name: door.describe(name) for name, at in sets.items() if at.table is None}
    except (DoorError, ClientError, BotoCoreError) as error:
        wrong(str(error))
    _show(sets, found)
    if set_name and found[set_name] is None:
        raise typer.Exit(1)


def _loaded(sets: ReferenceSets, set_name: str, members: Members, by: str, why: str) -> Loaded:
    """Load a set, its progress shown where somebody looks."""
    errors = Console(stderr=True)
    columns = (TextColumn(set_name, markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        task = progress.add_task("", total=len(members.values))
        return sets.load(
            set_name,
            members.values,
            by=by,
            why=why,
            report=lambda written: progress.advance(task, written),
        )


def _tell(set_name: str, source: DynamoSource, value: str) -> None:
    if source.known(frozenset({value})):
        print(f"It is in {set_name}.")
        return
    print(f"It is not in {set_name}.")
    raise typer.Exit(1)


def _show(sets: dict[str, ReferenceSource], found: dict[str, Current | None]) -> None:
    rows = Rows("set", "members", "loaded", "by", "why")
    for name, source in sets.items():
        current = found.get(name)
        if source.table is not None:
            row = (name, "", f"in PostgreSQL: {source.table}, {source.column}", "", "")
        elif current is None:
            row = (name, "", "never", "", "")
        else:
            loaded = moment(current.loaded_at)
            row = (name, f"{current.members:,}", loaded, current.by, current.why)
        rows.add_row(*map(Text, row))  # a reason may be anybody's words: no markup
    console().print(rows)


def _all(env: str) -> dict[str, ReferenceSource]:
    return dict(catalogue.load(CATALOGUE, env).references)


def _own(env: str, set_name: str) -> ReferenceSource:
    """Return a set of the catalogue that is in the deployment's own table.

    Raises:
        BadParameter: there is none of this name, or it is in PostgreSQL.
    """
    sets = _all(env)
    if set_name not in sets:
        names = ", ".join(sets) or "none"
        raise typer.BadParameter(f"the catalogue has no set {set_name}; there are: {names}")
    source = sets[set_name]
    if source.table is not None:
        where = f"table {source.table}, column {source.column}"
        raise typer.BadParameter(f"{set_name} is in PostgreSQL: {where}; see there")
    return source


def _table(env: str, region: str | None, endpoint_url: str | None) -> Table:
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    return Table(client, f"tidegate-{env}-references", SystemClock(), SystemIds())


def _sets(env: str, region: str | None, endpoint_url: str | None) -> ReferenceSets:
    return ReferenceSets(_table(env, region, endpoint_url), SystemClock(), SystemIds())
