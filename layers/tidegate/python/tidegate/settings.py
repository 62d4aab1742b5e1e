"""One typed settings object per function, read from the environment a handler is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Environ = Mapping[str, str]


class SettingMissing(LookupError):
    """The function's environment lacks a variable; the deployment is wrong, not the request."""


def _required(environ: Environ, name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise SettingMissing(f"environment variable {name} is not set")
    return value


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """How Redis or Valkey is reached."""

    url: str
    """`redis(s)://` for one node, `redis(s)+cluster://` for many."""
    iam_user: str | None
    """User id for IAM authentication against ElastiCache; None where the URL is enough."""
    iam_cache: str | None
    """Name of the ElastiCache cache, part of the signed token."""
    region: str

    @classmethod
    def of(cls, environ: Environ) -> RedisSettings:
        """Return the settings in `environ`."""
        return cls(
            url=_required(environ, "REDIS_URL"),
            iam_user=environ.get("REDIS_IAM_USER") or None,
            iam_cache=environ.get("REDIS_IAM_CACHE") or None,
            region=environ.get("AWS_REGION", "us-east-1"),
        )


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """What the api function is told."""

    environment: str
    jobs_table: str
    ledger_table: str
    assets_bucket: str
    queue_url_prefix: str
    """Queue URL up to the queue's name (`Job.queue`): `https://sqs…/<account>/tidegate-<env>-`."""
    public_url: str
    """What partners call, without `/v1`; links are built on it, never on a Host header."""
    redis: RedisSettings

    @classmethod
    def of(cls, environ: Environ) -> ApiSettings:
        """Return the settings in `environ`."""
        return cls(
            environment=_required(environ, "TIDEGATE_ENV"),
            jobs_table=_required(environ, "JOBS_TABLE"),
            ledger_table=_required(environ, "LEDGER_TABLE"),
            assets_bucket=_required(environ, "ASSETS_BUCKET"),
            queue_url_prefix=_required(environ, "QUEUE_URL_PREFIX"),
            public_url=_required(environ, "PUBLIC_URL").rstrip("/"),
            redis=RedisSettings.of(environ),
        )


@dataclass(frozen=True, slots=True)
class AuthorizerSettings:
    """What the authorizer function is told."""

    environment: str
    partners_table: str

    @classmethod
    def of(cls, environ: Environ) -> AuthorizerSettings:
        """Return the settings in `environ`."""
        return cls(
            environment=_required(environ, "TIDEGATE_ENV"),
            partners_table=_required(environ, "PARTNERS_TABLE"),
        )


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What one model's worker function is told."""

    environment: str
    model: str
    jobs_table: str
    ledger_table: str
    assets_bucket: str
    queue_url: str
    low_queue_url: str
    """Of jobs of low priority."""
    dlq_url: str
    quarantine_url: str
    vendor_base_url: str
    vendor_secret: str
    """Secrets Manager id of the vendor's API key."""
    redis: RedisSettings
    references_table: str | None = None
    """Where the reference sets are that the entry's contract refers to; None where it has none."""
    references_secret: str | None = None
    """Secrets Manager id of PostgreSQL's connection string, where a set of its own is there."""

    @classmethod
    def of(cls, environ: Environ) -> WorkerSettings:
        """Return the settings in `environ`."""
        return cls(
            environment=_required(environ, "TIDEGATE_ENV"),
            model=_required(environ, "MODEL"),
            jobs_table=_required(environ, "JOBS_TABLE"),
            ledger_table=_required(environ, "LEDGER_TABLE"),
            assets_bucket=_required(environ, "ASSETS_BUCKET"),
            queue_url=_required(environ, "QUEUE_URL"),
            low_queue_url=_required(environ, "LOW_QUEUE_URL"),
            dlq_url=_required(environ, "DLQ_URL"),
            quarantine_url=_required(environ, "QUARANTINE_URL"),
            vendor_base_url=_required(environ, "VENDOR_BASE_URL"),
            vendor_secret=_required(environ, "VENDOR_SECRET"),
            redis=RedisSettings.of(environ),
            references_table=environ.get("REFERENCES_TABLE") or None,
            references_secret=environ.get("REFERENCES_SECRET") or None,
        )


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """What the sweeper and the replay function are told: they look after every model's queues."""

    environment: str
    jobs_table: str
    ledger_table: str
    assets_bucket: str
    queue_url_prefix: str
    """As in `ApiSettings`; a model's DLQ is its name and `-dlq`."""

    @classmethod
    def of(cls, environ: Environ) -> RepairSettings:
        """Return the settings in `environ`."""
        return cls(
            environment=_required(environ, "TIDEGATE_ENV"),
            jobs_table=_required(environ, "JOBS_TABLE"),
            ledger_table=_required(environ, "LEDGER_TABLE"),
            assets_bucket=_required(environ, "ASSETS_BUCKET"),
            queue_url_prefix=_required(environ, "QUEUE_URL_PREFIX"),
        )

    def dlq_url(self, model: str) -> str:
        """Return the URL of a model's dead-letter queue."""
        return f"{self.queue_url_prefix}{model}-dlq"

    @property
    def quarantine_url(self) -> str:
        """Return the URL of the quarantine queue."""
        return f"{self.queue_url_prefix}quarantine"
