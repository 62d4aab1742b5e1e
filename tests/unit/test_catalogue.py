"""The catalogue: what is wrong is named by its key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline import CATALOGUE_FOLDER
from tidegate.gate.contract import violations
from tidegate.rules.catalogue import CatalogueError, load, parse

ENTRY: dict[str, Any] = {
    "adapter": "openai-chat",
    "vendor": "openai",
    "vendor_model": "m",
    "task": "chat",
    "max_concurrency": 2,
    "timeouts": {"read": 10, "total": 12},
}

PROFILES: dict[str, Any] = {"safety_profiles": {"s": "Be careful."}}


@pytest.mark.parametrize("environment", ["local", "dev", "staging", "prod"])
def test_our_own_catalogue_has_one_entry_per_task_and_adapter(environment: str) -> None:
    models = load(CATALOGUE_FOLDER, environment).models
    assert {entry.task for entry in models.values()} == {"chat", "code", "image", "extract"}
    assert {entry.adapter for entry in models.values()} == {
        "openai-chat",
        "anthropic-messages",
        "cohere-chat",
        "openai-images",
    }


def test_every_contract_of_ours_can_be_used_and_refuses_something() -> None:
    contracts = [e.contract for e in load(CATALOGUE_FOLDER).models.values() if e.contract]
    assert contracts
    assert all(violations(contract.schema_, {}) for contract in contracts)


@pytest.mark.parametrize("environment", ["local", "prod"])
def test_the_chain_of_timeouts_holds(environment: str) -> None:
    for entry in load(CATALOGUE_FOLDER, environment).models.values():
        times = entry.timeouts
        assert times.total < times.function < times.lease < times.visibility
        assert times.visibility >= 6 * times.function


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"colour": "red"}, "models.m.colour"),
        ({"max_concurrency": 1}, "models.m.max_concurrency"),
        ({"adapter": "smoke-signals"}, "models.m.adapter"),
        ({"timeouts": {"read": 10, "total": 0}}, "models.m.timeouts.total"),
        ({"timeouts": {"read": 10, "total": 5, "tea": 4}}, "models.m.timeouts.tea"),
        ({"task": "extract"}, "models.m"),
        ({"retry": {"attempts": 8, "starts": 2}}, "models.m.retry"),
        ({"cache": {"reuse": "sometimes"}}, "models.m.cache.reuse"),
        ({"parameters": {"t": {"type": "integer", "default": "x"}}}, "models.m.parameters.t"),
        ({"parameters": {"t": {"type": "integer", "default": True}}}, "models.m.parameters.t"),
        ({"parameters": {"t": {"type": "number", "default": 3, "maximum": 2}}}, "parameters.t"),
        ({"normalise": "code"}, "normalise: code is for task code"),
        ({"normalise": "code-structure"}, "normalise: code-structure is for task code"),
        ({"normalise": "code", "task": "image"}, "normalise: code is for task code"),
        ({"ignore_comments": True}, "ignore_comments needs"),
        ({"ignore_comments": True, "task": "code", "normalise": "text"}, "ignore_comments needs"),
        ({"locales": ["English"]}, "models.m.locales.0"),
        ({"locales": ["en_GB"]}, "models.m.locales.0"),
        ({"locales": ["en", "EN"]}, "locales: one is named twice"),
        ({"safety_profiles": {"s": ""}}, "models.m.safety_profiles.s"),
        ({"safety_profiles": {"s": " \n"}}, "models.m.safety_profiles.s"),
        ({"safety_profiles": {"S p": "x"}}, "models.m.safety_profiles"),
        ({"default_safety_profile": "s"}, "default_safety_profile: s is not one of"),
        ({**PROFILES, "default_safety_profile": "t"}, "default_safety_profile: t is not one of"),
        ({"task": "image", "system": "Draw well."}, "system: task image"),
        ({"task": "image", "locales": ["en"]}, "locales: task image"),
        ({"task": "image", **PROFILES}, "safety_profiles: task image"),
    ],
)
def test_a_wrong_entry_is_refused_by_name(change: dict[str, Any], named: str) -> None:
    with pytest.raises(CatalogueError, match=named):
        parse({"models": {"m": {**ENTRY, **change}}})


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("parameters.x = { type = 'integer', default = 9007199254740992 }", "parameters.x.default"),
        ("parameters.x = { type = 'number', default = nan }", "parameters.x.default"),
        ("parameters.x = { type = 'number', default = inf }", "parameters.x.default"),
        ("contract.schema.properties.n.minimum = -9007199254740993", "contract.schema"),
        ("contract.schema.properties.n.maximum = inf", "contract.schema"),
        ("contract.schema.const = 2026-01-01", "contract.schema"),
    ],
)
def test_what_no_key_can_hold_is_refused_at_once_and_not_at_each_request(
    toml: str, named: str
) -> None:
    with pytest.raises(CatalogueError, match=named):
        parse({"models": {"m": {**ENTRY, **tomllib.loads(toml)}}})


@pytest.mark.parametrize("normalise", ["exact", "text", "code", "code-structure"])
def test_code_can_be_normalised_in_any_way(normalise: str) -> None:
    entry = {**ENTRY, "task": "code", "normalise": normalise}
    assert parse({"models": {"m": entry}}).models["m"].normalise == normalise


def test_a_model_takes_no_locale_and_has_no_profile_unless_it_says_so() -> None:
    entry = parse({"models": {"m": ENTRY}}).models["m"]
    assert (entry.locales, entry.safety_profiles, entry.default_safety_profile) == ((), {}, None)


@pytest.mark.parametrize("name", ["M", "a b", "a_b", "x" * 31])
def test_a_name_that_no_queue_can_bear(name: str) -> None:
    with pytest.raises(CatalogueError, match="name"):
        parse({"models": {name: ENTRY}})


def test_an_overlay_changes_single_keys_of_known_models(tmp_path: Path) -> None:
    text = (CATALOGUE_FOLDER / "catalogue.toml").read_text()
    (tmp_path / "catalogue.toml").write_text(text)
    (tmp_path / "catalogue.dev.toml").write_text("[models.chat-mini]\nmax_concurrency = 7\n")
    assert load(tmp_path, "dev").models["chat-mini"].max_concurrency == 7
    assert load(tmp_path, "prod").models["chat-mini"].max_concurrency == 10
    (tmp_path / "catalogue.dev.toml").write_text("[models.chat-maxi]\nmax_concurrency = 7\n")
    with pytest.raises(CatalogueError, match=r"models\.chat-maxi"):
        load(tmp_path, "dev")


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="catalogue"):
        load(tmp_path)
    (tmp_path / "catalogue.toml").write_text("models = [")
    with pytest.raises(CatalogueError, match="catalogue"):
        load(tmp_path)
