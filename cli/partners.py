"""`tidegate partners`: who may call, with which key, how often, and for how much."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Annotated

import boto3
import typer

from cli.deployment import Endpoint, Env, Region
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.ledger import Ledger
from tidegate.doors.partners import Partners
from tidegate.errors import Conflict
from tidegate.rules.job import OPERATOR
from tidegate.rules.money import credits_to_micro, micro_to_credits
from tidegate.rules.pacing import MOST_PER_MINUTE
from tidegate.rules.partner_key import is_partner_id, mint

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

app = typer.Typer(help="Partners, their keys, limits and credits.", no_args_is_help=True)

Partner = Annotated[str, typer.Argument(help="The partner's id, for example acme.")]

_CREDIT_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def add_partner(client: DynamoDBClient, table: str, partner: str) -> str:
    """Give a partner a new key and return it; it is shown once, of its secret a hash is stored.

    Raises:
        ValueError: `partner` cannot name a partner.
    """
    _check(partner)
    key = mint(secrets.token_bytes)
    _partners(client, table).add_key(partner, key, SystemClock().now())
    return key.reveal()


def add_credit(
    client: DynamoDBClient, table: str, partner: str, micro: int, credit_id: str
) -> bool:
    """Give a partner micro-credits; False if the credit of this id was given before.

    Raises:
        ValueError: `partner` or `credit_id` cannot be one, or that credit was another amount.
    """
    _check(partner)
    if not _CREDIT_ID.fullmatch(credit_id):
        raise ValueError(
            f"{credit_id[:80]!r}: 1 to 64 letters, digits, dots, hyphens and underscores"
        )
    clock = SystemClock()
    ledger = Ledger(Table(client, table, clock, SystemIds()))
    return ledger.credit(partner, credit_id, micro, clock.now())


def known(client: DynamoDBClient, table: str, partner: str) -> Partners:
    """Return the partners, one of whom must be `partner`.

    Raises:
        BadParameter: nobody of that name has a key, or ever had one, or can have one.
    """
    _meant(partner)
    partners = _partners(client, table)
    if not any(True for _ in partners.key_ids(partner)):
        raise typer.BadParameter(f"{partner} has no key: a slip of the pen, or to be created first")
    return partners


@app.command()
def create(
    partner: Partner, env: Env, region: Region = None, endpoint_url: Endpoint = None
) -> None:
    """Create a partner, or another key for one, and print the API key; it is not shown again."""
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    table = f"tidegate-{env}-partners"
    try:
        print(add_partner(client, table, partner))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    own = _partners(client, table).limit(partner)
    if own is not None:  # beside the key, which may be read by a script
        typer.echo(_limit_line(own), err=True)


@app.command()
def limit(
    partner: Partner,
    env: Env,
    requests_per_minute: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_PER_MINUTE, help="Posts per minute of this partner."),
    ] = None,
    default: Annotated[
        bool, typer.Option("--default", help="Back to what the catalogue gives every partner.")
    ] = False,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Set or show how many jobs a partner may post in a minute."""
    if default and requests_per_minute is not None:
        raise typer.BadParameter("--requests-per-minute or --default, not both")
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    partners = known(client, f"tidegate-{env}-partners", partner)
    if default or requests_per_minute is not None:
        try:
            keys = partners.set_limit(partner, requests_per_minute)
        except Conflict as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
        print(f"Set on {keys} keys; within five minutes it holds for each.")
    print(_limit_line(partners.limit(partner)))


@app.command()
def credit(
    partner: Partner,
    amount: Annotated[str, typer.Argument(help="Credits, with up to 6 decimals.")],
    env: Env,
    id_: Annotated[
        str | None, typer.Option("--id", help="Names this credit: given twice, it counts once.")
    ] = None,
    region: Region = None,
    endpoint_url: Endpoint = None,
) -> None:
    """Give a partner credits."""
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    known(client, f"tidegate-{env}-partners", partner)
    credit_id = id_ or secrets.token_hex(8)
    if id_ is None:  # said before it is done: after a lost reply, the same id does no harm
        print(f"id: {credit_id}")
    try:
        given = add_credit(
            client, f"tidegate-{env}-ledger", partner, credits_to_micro(amount), credit_id
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    print(f"{amount} credits given." if given else "It was given before; nothing is changed.")
    _print_balance(client, f"tidegate-{env}-ledger", partner)


@app.command()
def balance(
    partner: Partner, env: Env, region: Region = None, endpoint_url: Endpoint = None
) -> None:
    """Print what a partner has, in credits."""
    if partner != OPERATOR:
        _meant(partner)
    client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    _print_balance(client, f"tidegate-{env}-ledger", partner)


def _check(partner: str) -> None:
    if not is_partner_id(partner):
        raise ValueError(f"{partner[:60]!r}: 2 to 40 lower-case letters, digits and hyphens")


def _meant(partner: str) -> None:
    try:
        _check(partner)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _partners(client: DynamoDBClient, table: str) -> Partners:
    return Partners(Table(client, table, SystemClock(), SystemIds()))


def _limit_line(own: int | None) -> str:
    return f"requests per minute: {own or 'as the catalogue says for every partner'}"


def _print_balance(client: DynamoDBClient, table: str, partner: str) -> None:
    has = Ledger(Table(client, table, SystemClock(), SystemIds())).balance(partner)
    for name in ("available", "reserved", "captured"):
        print(f"{name:<10} {micro_to_credits(getattr(has, name)):>18,.6f}")
