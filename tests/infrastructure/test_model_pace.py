"""Whether a model's places fit its vendor's limits is said at synth, by the entry's name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import assertions

from infra.environment import read
from infra.model import PACE_WARNING
from infra.service import compose
from tests.infrastructure.synthesis import (
    CATALOGUE,
    ENVIRONMENTS,
    ROOT,
    context_of,
    new_app,
)
from tidegate.rules.catalogue import Catalogue, load, parse

TOO_FEW = {"requests_per_minute": 600, "expected_latency": 20}
"""Ten places make 30 calls a minute."""

TOO_MANY = {"requests_per_minute": 60, "expected_latency": 2}
"""Ten places make 300 calls a minute."""


def _changed(pace: Mapping[str, float], **keys: object) -> Catalogue:
    """Return the catalogue with the pace of `chat-mini` replaced."""
    document: dict[str, Any] = tomllib.loads((CATALOGUE / "catalogue.toml").read_text())
    document["models"]["chat-mini"] |= {"pace": dict(pace), "max_concurrency": 10, **keys}
    return parse(document)


def _warnings(environment: str, folder: Path, models: Catalogue) -> list[str]:
    """Return what synth warns of in the stack of the models."""
    config = read(context_of(environment).get)
    stacks = compose(new_app(folder), config=config, catalogue=models, root=ROOT)
    found = assertions.Annotations.from_stack(stacks.service).find_warning(
        "*", assertions.Match.any_value()
    )
    return [str(message.entry.data) for message in found]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_catalogue_as_it_is_shipped_gives_no_warning(environment: str, tmp_path: Path) -> None:
    assert _warnings(environment, tmp_path, load(CATALOGUE, environment)) == []


def test_places_that_cannot_use_the_quota_are_named(tmp_path: Path) -> None:
    (warning,) = _warnings("dev", tmp_path, _changed(TOO_FEW))
    assert warning.startswith("models.chat-mini.pace: 10 calls of 20 s at once make 30 a minute")
    assert "cannot use a quota of 600" in warning
    assert PACE_WARNING in warning, "the id it is acknowledged by"


def test_places_that_must_exceed_the_quota_are_named(tmp_path: Path) -> None:
    (warning,) = _warnings("dev", tmp_path, _changed(TOO_MANY))
    assert warning.startswith("models.chat-mini.pace: 10 calls of 2 s at once would make 300")
    assert "must exceed a quota of 60" in warning


def test_what_the_vendor_allows_at_once_counts_and_not_the_workers(tmp_path: Path) -> None:
    assert _warnings("dev", tmp_path, _changed(TOO_MANY, vendor_concurrency=3)) == []


@pytest.mark.parametrize(
    "pace", [{}, {"requests_per_minute": 60}, {"expected_latency": 2}], ids=lambda p: "-".join(p)
)
def test_what_is_not_known_is_no_reason_to_warn(pace: dict[str, float], tmp_path: Path) -> None:
    assert _warnings("dev", tmp_path, _changed(pace)) == []
