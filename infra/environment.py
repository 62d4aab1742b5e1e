"""What differs between environments: one frozen value, made from CDK context and nothing else.

Nothing here asks AWS anything, so every environment can be synthesised without credentials.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Context = Callable[[str], object]
"""`app.node.try_get_context`: the value of a `-c key=value`, or None."""

CLOUD = ("dev", "staging", "prod")
NAMES = ("local", *CLOUD)

VENDOR_BASES = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "cohere": "https://api.cohere.com",
}
"""Where each vendor account's API begins; adapters append their own path."""

MOCK_PATHS = {"openai": "/v1", "anthropic": "/anthropic", "cohere": "/cohere"}
"""Where one mock server answers for each vendor, below `-c vendor_url`."""

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
_ACCOUNT = re.compile(r"\d{12}")


class EnvironmentRefused(ValueError):
    """The `-c` arguments do not describe an environment; `str()` says which one and why."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """One account with a vendor."""

    base_url: str
    secret: str
    """Name of the Secrets Manager secret that holds the API key."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """What API Gateway lets through for the whole stage."""

    rate: int
    """Requests per second."""
    burst: int


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """The ceilings of the serverless cache: they cap its cost, not its size today."""

    gigabytes: int
    ecpu_per_second: int
    snapshots: int
    """Daily snapshots kept; the cache holds only what may be lost, so few or none."""


@dataclass(frozen=True, slots=True)
class EnvironmentConfig:
    """One environment."""

    name: str
    region: str
    account: str | None
    """None: whatever account the credentials at deployment belong to."""
    availability_zones: tuple[str, ...]
    nat_gateways: int
    vendors: Mapping[str, Vendor]
    protected: bool
    """Data outlives the stacks: RETAIN, deletion protection, point-in-time recovery."""
    log_days: int
    throttle: Throttle
    authorizer_ttl: int
    """Seconds API Gateway remembers an authorizer's answer, hence how long a revoked key lives."""
    cache: CacheLimits | None
    """None: no cache of ours, `redis_url` is given instead."""
    redis_url: str | None
    python_platform: str | None
    """Platform of the dependency layer's wheels as uv names it; None: this machine's own."""
    overlay: str | None = None
    """TOML with keys of the catalogue that are other than usual in this local deployment."""

    @property
    def is_local(self) -> bool:
        """Return whether this is the emulator on a laptop."""
        return self.name == "local"

    def named(self, resource: str) -> str:
        """Return the physical name of a resource: it tells the environment from any other."""
        return f"tidegate-{self.name}-{resource}"


def read(context: Context) -> EnvironmentConfig:
    """Return the environment that `-c env=…` names, with what else the context says of it.

    Raises:
        EnvironmentRefused: `env` is missing or unknown, or a value it needs is missing or wrong.
    """
    name = _text(context, "env")
    if name is None:
        raise EnvironmentRefused(f"no environment: add -c env={'|'.join(NAMES)}")
    if name not in NAMES:
        raise EnvironmentRefused(f"env={name}: unknown environment, one of {', '.join(NAMES)}")
    if name == "local":
        return _local(context)
    return _cloud(name, context)


def _local(context: Context) -> EnvironmentConfig:
    redis_url = _required(context, "redis_url", "local", "redis+cluster://127.0.0.1:6379")
    if not redis_url.startswith(("redis://", "rediss://", "redis+cluster://", "rediss+cluster://")):
        raise EnvironmentRefused(f"redis_url={redis_url}: not a redis:// URL")
    vendor_url = _required(context, "vendor_url", "local", "http://127.0.0.1:9100").rstrip("/")
    if not vendor_url.startswith(("http://", "https://")):
        raise EnvironmentRefused(f"vendor_url={vendor_url}: not an http:// URL")
    region = _region(context)
    return EnvironmentConfig(
        name="local",
        region=region,
        account=None,
        availability_zones=(f"{region}a", f"{region}b"),
        nat_gateways=0,
        vendors={v: Vendor(vendor_url + p, f"tidegate/local/{v}") for v, p in MOCK_PATHS.items()},
        protected=False,
        log_days=1,
        throttle=Throttle(rate=1000, burst=2000),
        authorizer_ttl=60,
        cache=None,
        redis_url=redis_url,
        python_platform=None,
        overlay=_overlay(context),
    )


def _overlay(context: Context) -> str | None:
    path = _text(context, "overlay")
    if path is None:
        return None
    try:
        text = Path(path).read_text(encoding="utf-8")
        tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise EnvironmentRefused(f"overlay={path}: {error}") from error
    return text


def _cloud(name: str, context: Context) -> EnvironmentConfig:
    for key in ("redis_url", "vendor_url", "overlay"):
        if _text(context, key) is not None:
            raise EnvironmentRefused(f"{key} belongs to env=local, not to env={name}")
    region = _region(context)
    account = _text(context, "account")
    if account is not None and not _ACCOUNT.fullmatch(account):
        raise EnvironmentRefused(f"account={account}: not twelve digits")
    zones = tuple(z.strip() for z in (_text(context, "zones") or f"{region}a,{region}b").split(","))
    if len(set(zones)) < 2 or not all(zone.startswith(region) for zone in zones):
        raise EnvironmentRefused(f"zones={','.join(zones)}: two zones of {region} at least")
    prod = name == "prod"
    return EnvironmentConfig(
        name=name,
        region=region,
        account=account,
        availability_zones=zones,
        # One NAT gateway is one zone's failure away from no vendor at all: prod has one per zone.
        nat_gateways=len(zones) if prod else 1,
        vendors={v: Vendor(base, f"tidegate/{name}/{v}") for v, base in VENDOR_BASES.items()},
        protected=prod,
        log_days={"dev": 7, "staging": 30, "prod": 365}[name],
        throttle=Throttle(rate=100, burst=200) if prod else Throttle(rate=20, burst=40),
        authorizer_ttl=300,
        cache=CacheLimits(
            gigabytes=10 if prod else 1,
            ecpu_per_second=20_000 if prod else 5_000,
            snapshots=1 if prod else 0,
        ),
        redis_url=None,
        python_platform="aarch64-manylinux_2_28",
    )


def _region(context: Context) -> str:
    region = _text(context, "region") or "us-east-1"
    if not _REGION.fullmatch(region):
        raise EnvironmentRefused(f"region={region}: not the name of a region")
    return region


def _required(context: Context, key: str, environment: str, example: str) -> str:
    value = _text(context, key)
    if value is None:
        raise EnvironmentRefused(f"env={environment} needs -c {key}=…, such as {example}")
    return value


def _text(context: Context, key: str) -> str | None:
    value = context(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise EnvironmentRefused(f"{key}: expected text, got {value!r}")
    return value
