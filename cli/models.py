"""`tidegate models`: whether a model may be called; paused and resumed by hand.

The model's worker does it, where its pace is kept; this asks for it and shows what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import shown
from cli.caller import caller
from cli.deployment import Endpoint, Env, Region, model_named
from cli.functions import ONCE_MORE, Refused, client, invoke
from cli.local.stack import CATALOGUE
from tidegate.rules import catalogue

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

app = typer.Typer(help="Models: pause one, resume it, show their pace.", no_args_is_help=True)

AT_ONCE = 8
"""Workers asked side by side: one that has to be started takes seconds."""

COLUMNS = ("model", "calls", "until", "by", "why", "since", "refused in a row", "rate")

CAUSES: dict[str, str] = {
    "throttled": "throttled",
    "account": "account refused",
    "failing": "vendor failing",
    "refusing": "all refused",
}
"""Why a model is paused by itself (`doors/pace.py:Reason`), in the table."""

UNSEEN = "Redis cannot be reached: no call begins as long as that lasts"
STORED = f"{UNSEEN}. It is stored; when Redis is back, `models show` makes workers heed it"

Model = Annotated[str, typer.Argument(help="A name of the catalogue.", callback=model_named)]


@app.command()
def pause(
    model: Model,
    env: Env,
    why: Annotated[str, typer.Option(help="For whoever finds it paused.")],
    for_: Annotated[
        float | None, typer.Option("--for", help="Seconds until it resumes by itself.")
    ] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Let no call of a model begin; its jobs wait. Calls under way end as usual."""
    request: dict[str, Any] = {"switch": "pause", "by": caller(region, endpoint_url), "why": why}
    request |= {} if for_ is None else {"seconds": for_}
    _run(client(region, endpoint_url, ONCE_MORE), env, [model], request)


@app.command()
def resume(
    model: Model,
    env: Env,
    why: Annotated[str | None, typer.Option(help="For the record.")] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Let a model be called again; ends a cool-down as well."""
    request = {"switch": "resume", "by": caller(region, endpoint_url)}
    request |= {} if why is None else {"why": why}
    _run(client(region, endpoint_url, ONCE_MORE), env, [model], request)


@app.command()
def show(
    env: Env,
    model: Annotated[
        str | None, typer.Argument(help="One model; default: all.", callback=model_named)
    ] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Show which models are paused, by whom or by their vendor, and how fast they are used."""
    models = [model] if model else list(catalogue.load(CATALOGUE, env).models)
    _run(client(region, endpoint_url, ONCE_MORE), env, models, {"switch": "show"})


def switched(
    workers: LambdaClient, env: str, model: str, request: dict[str, Any]
) -> dict[str, Any]:
    """Return what a model's worker answers to one turn of its switch, or to a look at it.

    Raises:
        Refused: it could not be reached, failed, or says that the request is wrong.
    """
    busy = "all its workers are busy; try again"
    return invoke(workers, f"tidegate-{env}-worker-{model}", request, busy=busy)


def state(answer: dict[str, Any]) -> str:
    """Return in a few words whether calls of a model begin."""
    cool_down = answer["cool_down"]
    if answer["paused"]:
        return "paused by hand"
    if not answer["seen"]:
        return "none: no Redis"
    if cool_down["seconds"] > 0:
        cause = CAUSES.get(cool_down["reason"], "throttled")
        return f"{cause}, {cool_down['seconds']:.0f} s left"
    return "one, to try" if cool_down["in_a_row"] else "yes"


def _run(workers: LambdaClient, env: str, models: Sequence[str], request: dict[str, Any]) -> None:
    def ask(model: str) -> dict[str, Any] | Refused:
        try:
            return switched(workers, env, model, request)
        except Refused as refused:
            return refused

    console = shown.console()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = dict(zip(models, pool.map(ask, models), strict=True))
    answers = [answer for answer in told.values() if not isinstance(answer, Refused)]
    if answers:
        _show(console, answers)
    wrong = {model: str(each) for model, each in told.items() if isinstance(each, Refused)}
    unseen = UNSEEN if request["switch"] == "show" else STORED
    wrong |= {each["model"]: unseen for each in answers if not each["seen"]}
    for model, sentence in wrong.items():
        console.print(f"{model}: {sentence}", style="red", markup=False, soft_wrap=True)
    if wrong:
        raise typer.Exit(1)


def _show(console: Console, answers: Sequence[dict[str, Any]]) -> None:
    table = Table(*COLUMNS)
    for each in answers:
        cool_down = each["cool_down"]
        row = (
            each["model"], state(each), _moment(each["until"]) if each["paused"] else "",
            each["by"], each["why"], _moment(each["at"]), str(cool_down["in_a_row"]),
            f"{cool_down['rate']:.0%}",
        )  # fmt: skip
        table.add_row(*map(Text, row))  # a reason may be anybody's words: no markup
    console.print(table)


def _moment(seconds: float | None) -> str:
    """Return a time since the epoch in words; nothing if there is none."""
    return shown.moment(seconds) if seconds else ""
