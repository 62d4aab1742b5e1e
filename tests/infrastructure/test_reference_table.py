"""Where reference sets are, and who may look into them: workers whose contract names one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infrastructure.grants import actions_on, functions
from tests.infrastructure.synthesis import CATALOGUE, Synthesis, synthesise
from tidegate.rules.catalogue import Catalogue, load
from tidegate.rules.contracts import Contract, Reference, ReferenceSource

LOOK = {"dynamodb:GetItem", "dynamodb:BatchGetItem"}
READ_SECRET = {"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"}
HERE = ReferenceSource()
THERE = ReferenceSource(source="postgresql", table="accounts", column="id", type="bigint")


def _told(every: Synthesis, model: str) -> dict[str, Any]:
    function = every.config.named(f"worker-{model}")
    made = every.one_of("AWS::Lambda::Function", FunctionName=function)
    return dict(made["Environment"]["Variables"])


def _with(sets: dict[str, ReferenceSource], **of_models: tuple[str, ...]) -> Catalogue:
    """Return the catalogue with these sets, and models whose contract refers to some."""
    models = load(CATALOGUE, "dev")
    entries = {
        name: entry.model_copy(
            update={
                "contract": Contract(
                    schema={"type": "object"},
                    references=tuple(
                        Reference(path="$.id", set=each)
                        for each in of_models.get(name.replace("-", "_"), ())
                    ),
                )
            }
        )
        for name, entry in models.models.items()
    }
    return models.model_copy(update={"models": entries, "references": sets})


def test_the_table_is_looked_into_by_workers_that_need_it_and_written_by_nobody(
    every: Synthesis,
) -> None:
    needing = {f"worker-{name}" for name in every.catalogue.models if every.catalogue.sources(name)}
    assert needing, "the catalogue shipped has a model with references"
    for function in functions(every):
        found = actions_on(every, function, "DataReferences")
        assert found == (LOOK if function in needing else set()), function
    for name in every.catalogue.models:
        told = "REFERENCES_TABLE" in _told(every, name)
        assert told == (f"worker-{name}" in needing)
        assert "REFERENCES_SECRET" not in _told(every, name)


def test_there_is_no_secret_where_no_set_is_in_postgresql(every: Synthesis) -> None:
    names = [
        secret["Properties"]["Name"]
        for secret in every.all_of("AWS::SecretsManager::Secret").values()
    ]
    assert not [name for name in names if name.endswith("/references")]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """A deployment with a set of each kind, three models that use them, and two that do not."""
    catalogue = _with(
        {"accounts": THERE, "towns": HERE},
        chat_mini=("accounts",),
        code_command=("towns",),
        risk_report=("accounts", "towns"),
    )
    return synthesise("dev", tmp_path_factory.mktemp("mixed"), catalogue)


@pytest.mark.parametrize(
    ("model", "table", "secret"),
    [
        ("chat-mini", False, True),
        ("code-command", True, False),
        ("risk-report", True, True),
        ("chat-claude", False, False),
        ("image-studio", False, False),
    ],
)
def test_a_worker_reaches_the_kinds_of_set_it_needs(
    mixed: Synthesis, model: str, table: bool, secret: bool
) -> None:
    function, told = f"worker-{model}", _told(mixed, model)
    assert ("REFERENCES_TABLE" in told) == table
    assert actions_on(mixed, function, "DataReferences") == (LOOK if table else set())
    assert told.get("REFERENCES_SECRET") == ("tidegate/dev/references" if secret else None)
    found = actions_on(mixed, function, "Secretreferences")
    assert found == (READ_SECRET if secret else set())


def test_the_secret_is_kept_with_the_data(mixed: Synthesis) -> None:
    made = mixed.one_of("AWS::SecretsManager::Secret", Name="tidegate/dev/references")
    assert "PostgreSQL" in made["Description"]
    assert made in [
        r["Properties"] for r in mixed.all_of("AWS::SecretsManager::Secret", "data").values()
    ]
