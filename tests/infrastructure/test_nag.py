"""cdk-nag's AwsSolutions pack finds nothing, or what it finds is acknowledged with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_sqs as sqs
from cdk_nag import AwsSolutionsChecks

from infra.environment import read
from infra.service import compose
from tests.infrastructure.synthesis import CATALOGUE, CLOUD, ROOT, context_of, new_app
from tidegate.rules.catalogue import load


def _findings(app: App, folder: Path) -> list[str]:
    """Return what the pack finds and nobody acknowledged: rule and construct."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        app.synth()
    except Exception as error:  # noqa: BLE001 - jsii has no type for it
        assert "ValidationFailed" in str(error), error  # noqa: PT017
    report = json.loads((folder / "validation-report.json").read_text())
    return [
        f"{violation['ruleName']}: {construct['constructPath']}"
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]


@pytest.mark.parametrize("environment", CLOUD)
def test_aws_solutions_is_clean(environment: str, tmp_path: Path) -> None:
    app = new_app(tmp_path)
    config = read(context_of(environment).get)
    compose(app, config=config, catalogue=load(CATALOGUE, environment), root=ROOT)
    assert _findings(app, tmp_path) == []


def test_the_pack_does_run(tmp_path: Path) -> None:
    app = new_app(tmp_path)
    sqs.Queue(Stack(app, "careless"), "Queue")
    assert "AwsSolutions-SQS4: careless/Queue/Resource" in _findings(app, tmp_path)
