"""`tidegate partners`: who may call, and with which key."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated

import boto3
import typer

from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.partners import Partners
from tidegate.rules.partner_key import is_partner_id, mint

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

app = typer.Typer(help="Partners and their keys.", no_args_is_help=True)


def add_partner(client: DynamoDBClient, table: str, partner: str) -> str:
    """Give a partner a new key and return it; it is shown once, of its secret a hash is stored.

    Raises:
        ValueError: `partner` cannot name a partner.
    """
    if not is_partner_id(partner):
        raise ValueError(f"{partner!r}: 2 to 40 lower-case letters, digits and hyphens")
    key = mint(secrets.token_bytes)
    clock = SystemClock()
    Partners(Table(client, table, clock, SystemIds())).add_key(partner, key, clock.now())
    return key.reveal()


@app.command()
def create(
    partner: Annotated[str, typer.Argument(help="The partner's id, for example acme.")],
    env: Annotated[str, typer.Option(help="Environment: dev, staging, prod.")],
    region: Annotated[str | None, typer.Option(help="AWS region, if not your default.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="AWS endpoint, for an emulator.")] = None,
) -> None:
    """Create a partner and print its API key; it cannot be shown again."""
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    try:
        print(add_partner(client, f"tidegate-{env}-partners", partner))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
