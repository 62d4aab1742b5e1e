"""What is refused at synth, and how it is said."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from infra.environment import EnvironmentRefused, read
from infra.model import timeout_chain
from tests.infrastructure.synthesis import CATALOGUE, LOCAL, ROOT, context_of, synthesise
from tidegate.rules import policies
from tidegate.rules.catalogue import Catalogue, CatalogueError, Entry, parse
from tidegate.rules.policies import Timeouts


def _changed(**keys: object) -> dict[str, Any]:
    """Return the catalogue's TOML with keys of `chat-mini` set."""
    document = tomllib.loads((CATALOGUE / "catalogue.toml").read_text())
    document["models"]["chat-mini"] |= keys
    return document


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"max_concurrency": 1}, "models.chat-mini.max_concurrency"),
        ({"max_concurency": 5}, "models.chat-mini.max_concurency"),
        ({"timeouts": {"read": 60, "total": 900}}, "models.chat-mini.timeouts.total"),
        ({"timeouts": {"read": 60, "total": 75, "margin": 0}}, "models.chat-mini.timeouts.margin"),
        ({"timeouts": {"total": 75}}, "models.chat-mini.timeouts.read"),
        ({"retry": {"attempts": 5, "starts": 2}}, "models.chat-mini.retry"),
    ],
)
def test_a_broken_entry_is_refused_by_the_name_of_its_key(
    keys: dict[str, object], named: str
) -> None:
    with pytest.raises(CatalogueError) as refused:
        parse(_changed(**keys))
    assert named in str(refused.value)


class _ShortVisibility(Timeouts):
    @property
    def visibility(self) -> int:
        return 2 * self.function


class _ShortLease(Timeouts):
    @property
    def lease(self) -> float:
        return self.function - 1


class _ShortFunction(Timeouts):
    @property
    def function(self) -> int:
        return int(self.total)


@pytest.mark.parametrize("broken", [_ShortVisibility, _ShortLease, _ShortFunction])
def test_a_broken_timeout_chain_is_refused_with_its_figures(broken: type[Timeouts]) -> None:
    entry = parse(_changed()).models["chat-mini"]
    timeouts = broken(read=60, total=75)
    with pytest.raises(CatalogueError, match=r"models\.chat-mini\.timeouts: .*vendor 75 s"):
        timeout_chain("chat-mini", entry.model_copy(update={"timeouts": timeouts}))


def test_the_chain_is_checked_when_the_app_is_composed(tmp_path: Path) -> None:
    models = parse(_changed())
    entry = models.models["chat-mini"]
    broken = entry.model_copy(update={"timeouts": _ShortLease(read=60, total=75)})
    with pytest.raises(CatalogueError, match=r"models\.chat-mini\.timeouts"):
        synthesise("dev", tmp_path, models.model_copy(update={"models": {"chat-mini": broken}}))


def test_a_vendor_without_an_account_is_named(tmp_path: Path) -> None:
    models = parse(_changed(vendor="nobody"))
    with pytest.raises(CatalogueError, match=r"models\.chat-mini\.vendor: .*'nobody'.*env=dev"):
        synthesise("dev", tmp_path, models)


@pytest.mark.parametrize("name", ["quarantine", "chat-mini-dlq", "chat-mini-low"])
def test_a_model_cannot_take_the_name_of_another_queue(name: str, tmp_path: Path) -> None:
    entry = parse(_changed()).models["chat-mini"]
    with pytest.raises(CatalogueError, match=rf"models\.{name}: another queue"):
        synthesise("dev", tmp_path, Catalogue(models={name: entry}))


def test_every_entry_that_the_catalogue_takes_passes_the_chain() -> None:
    for total in (1, 75, 800):
        for margin in (3, 90):
            timeouts = Timeouts(read=1, total=total, margin=margin)
            entry: Entry = parse(_changed()).models["chat-mini"]
            timeout_chain("x", entry.model_copy(update={"timeouts": timeouts}))
            assert timeouts.function <= 900, "Lambda's own limit"
            assert timeouts.visibility <= 43_200, "SQS's own limit"
    assert policies.VISIBILITY_FACTOR >= 6


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({}, r"no environment: add -c env=local\|dev\|staging\|prod"),
        ({"env": "production"}, "env=production: unknown environment"),
        ({"env": "local", "vendor_url": "http://x"}, "env=local needs -c redis_url"),
        ({"env": "local", "redis_url": "redis://x"}, "env=local needs -c vendor_url"),
        (context_of("local", redis_url="127.0.0.1"), "redis_url=127.0.0.1: not a redis:// URL"),
        (context_of("local", vendor_url="x"), "vendor_url=x: not an http:// URL"),
        (context_of("prod", **LOCAL), "redis_url belongs to env=local, not to env=prod"),
        (context_of("dev", region="Frankfurt"), "region=Frankfurt: not the name of a region"),
        (context_of("dev", account="123"), "account=123: not twelve digits"),
        (context_of("dev", zones="us-east-1a"), "two zones of us-east-1 at least"),
        (context_of("dev", zones="eu-west-1a,eu-west-1b"), "two zones of us-east-1 at least"),
    ],
)
def test_an_environment_that_cannot_be_is_refused_in_words(
    context: dict[str, str], said: str
) -> None:
    with pytest.raises(EnvironmentRefused, match=said):
        read(context.get)


def test_region_account_and_zones_are_the_operators_to_choose() -> None:
    config = read(context_of("prod", region="eu-central-1", account="1" * 12).get)
    assert (config.region, config.account) == ("eu-central-1", "1" * 12)
    assert config.availability_zones == ("eu-central-1a", "eu-central-1b")
    three = read(context_of("prod", zones="us-east-1a,us-east-1b,us-east-1d").get)
    assert three.nat_gateways == 3


def test_the_app_ends_with_one_line_and_no_traceback(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CDK_")}
    done = subprocess.run(
        [sys.executable, ROOT / "app.py"],
        env=environment | {"CDK_OUTDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("tidegate: no environment")
    assert "Traceback" not in done.stderr
