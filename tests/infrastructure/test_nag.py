"""cdk-nag's AwsSolutions pack finds nothing, or what it finds is acknowledged with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aws_cdk import Validations
from cdk_nag import AwsSolutionsChecks
from synthesis import CATALOGUE, CLOUD, ROOT, context_of, new_app

from infra.environment import read
from infra.service import compose
from tidegate.rules.catalogue import load


@pytest.mark.parametrize("environment", CLOUD)
def test_aws_solutions_is_clean(environment: str, tmp_path: Path) -> None:
    app = new_app(tmp_path)
    config = read(context_of(environment).get)
    compose(app, config=config, catalogue=load(CATALOGUE, environment), root=ROOT)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()  # raises on an error that nobody acknowledged
    (report,) = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
    assert report["pluginName"] == "AwsSolutions"
    assert report["conclusion"] == "success"
    assert report["violations"] == []
