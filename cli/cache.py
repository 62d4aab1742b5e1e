"""`tidegate cache`: answers of before declared void, with one command and without a scan.

A model's worker does it, which reaches the job table and Redis. This asks for it and says what it
says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console

from cli import shown
from cli.caller import caller
from cli.deployment import Endpoint, Env, Region
from cli.functions import ONCE_MORE, Refused, client, invoke
from cli.local.stack import CATALOGUE
from cli.partners import known
from tidegate.rules import catalogue

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

app = typer.Typer(help="The cache: declare answers void.", no_args_is_help=True)

UNSEEN = (
    "Redis cannot be reached. It is stored; a Redis that comes back with what it knew before may "
    "hide it for five minutes, and the same command ends that"
)


@app.callback()
def _several() -> None:
    """Keep `invalidate` a command of its own: there may be more."""


@app.command()
def invalidate(
    env: Env,
    why: Annotated[str, typer.Option(help="For whoever wonders about the misses.")],
    model: Annotated[str | None, typer.Option(help="Of this model; default: of all.")] = None,
    partner: Annotated[str | None, typer.Option(help="Of this partner; default: of all.")] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Serve no answer of before any more: of a model, of a partner, or of a partner at a model."""
    models = list(catalogue.load(CATALOGUE, env).models)
    if model is None and partner is None:
        raise typer.BadParameter("whose answers? give --model, --partner, or both")
    if model is not None and model not in models:
        raise typer.BadParameter(f"there is no model {model}; there are {', '.join(models)}")
    console = shown.console()
    by = caller(region, endpoint_url)
    try:
        if partner is not None:  # a slip of the pen would be told that all is well
            dynamodb = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
            known(dynamodb, f"tidegate-{env}-partners", partner)
        workers = client(region, endpoint_url, ONCE_MORE)
        answer = invalidated(workers, env, model or models[0], model, partner, by, why)
    except (Refused, ClientError, BotoCoreError) as error:
        _wrong(console, str(error))
    since = shown.moment(answer["since"])
    whose = " of ".join(filter(None, ["answers", model and f"model {model}", partner]))
    console.print(f"{whose} made before {since} are void", markup=False, soft_wrap=True)
    if not answer["seen"]:
        _wrong(console, UNSEEN)


def invalidated(
    workers: LambdaClient,
    env: str,
    worker: str,
    model: str | None,
    partner: str | None,
    by: str,
    why: str,
) -> dict[str, Any]:
    """Return what a model's worker answers to one invalidation.

    Raises:
        Refused: it could not be reached, failed, or says that the request is wrong.
    """
    request = {"invalidate": {"model": model, "partner": partner}, "by": by, "why": why}
    busy = f"all workers of {worker} are busy; try again"
    return invoke(workers, f"tidegate-{env}-worker-{worker}", request, busy=busy)


def _wrong(console: Console, sentence: str) -> NoReturn:
    console.print(sentence, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(1)
