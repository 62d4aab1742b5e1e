"""Records of answers that failed the gate, as an operator's own credentials read them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import boto3

from cli.local.stack import CATALOGUE
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.jobs import Jobs
from tidegate.doors.payloads import Payloads
from tidegate.doors.quarantine import Listed, Quarantine
from tidegate.gate.reason import Code
from tidegate.rules import catalogue
from tidegate.rules.quarantine import KEPT

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

DAY = 86_400

MOST_DAYS = KEPT // DAY
"""No record is older."""

State = Literal["open", "released", "discarded", "all"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which records are meant; None is any."""

    model: str | None
    days: int
    state: State
    code: Code | None
    partner: str | None

    def means(self, one: Listed, now: float) -> bool:
        """Return whether a record is among them; `now` is in seconds since the epoch."""
        return (
            one.at > now - self.days * DAY
            and self.state in {"all", one.state}
            and (self.code is None or self.code in one.codes)
            and self.partner in {None, one.partner}
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """Where records are, and what was asked beside them."""

    quarantine: Quarantine
    jobs: Jobs
    models: tuple[str, ...]
    """Of the catalogue."""

    def found(self, chosen: Chosen, now: float) -> list[Listed]:
        """Return what is meant, the newest first; `now` is in seconds since the epoch."""
        models = self.models if chosen.model is None else (chosen.model,)
        listed = (
            one
            for model in models
            for day in days_until(now, chosen.days)
            for one in self.quarantine.listed(model, day)
            if chosen.means(one, now)
        )
        return sorted(listed, key=lambda one: (one.at, one.job_id), reverse=True)


def opened(env: str, region: str | None, endpoint_url: str | None) -> Kept:
    """Return where the records of an environment are.

    Raises:
        BotoCoreError, ClientError: AWS does not know the credentials.
    """
    dynamodb = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url)
    s3 = boto3.client("s3", region_name=region, endpoint_url=endpoint_url)
    sts = boto3.client("sts", region_name=region, endpoint_url=endpoint_url)
    return reached(env, sts.get_caller_identity()["Account"], dynamodb, s3)


def reached(env: str, account: str, dynamodb: DynamoDBClient, s3: S3Client) -> Kept:
    """Return where the records of an environment are, reached by these clients."""
    bucket = f"tidegate-{env}-assets-{account}-{dynamodb.meta.region_name}"  # infra/data.py
    table = Table(dynamodb, f"tidegate-{env}-jobs", SystemClock(), SystemIds())
    payloads = Payloads(s3, bucket)
    models = tuple(catalogue.load(CATALOGUE, env).models)
    return Kept(Quarantine(table, payloads), Jobs(table, payloads), models)


def days_until(now: float, count: int) -> list[str]:
    """Return the days (`2026-11-30`, UTC) that the `count` times 24 hours before `now` touch."""
    today = datetime.fromtimestamp(now, UTC)
    return [f"{today - timedelta(days=back):%Y-%m-%d}" for back in range(count + 1)]


def plain(text: str) -> str:
    """Return a text with what nobody would see spelled out.

    A model may write anything, and a terminal obeys what it is sent.
    """
    return "".join(each if _seen(each) else _spelled(each) for each in text)


def _seen(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
