"""Synthesises environments for the tests of this folder: plain templates, no CLI, no account."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# jsii prints a page about the age of Node 20, which the CDK still runs on.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from aws_cdk import App

from infra.environment import EnvironmentConfig, read
from infra.service import compose
from tidegate.rules.catalogue import Catalogue, load

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "layers" / "tidegate" / "python" / "catalogue"
LOCAL = {"redis_url": "redis+cluster://127.0.0.1:6379", "vendor_url": "http://127.0.0.1:9100"}
CLOUD = ("dev", "staging", "prod")
ENVIRONMENTS = ("local", *CLOUD)

Resource = dict[str, Any]


def context_of(environment: str, **more: str) -> dict[str, str]:
    """Return the `-c` arguments of an environment."""
    return {"env": environment} | (LOCAL if environment == "local" else {}) | more


def new_app(folder: Path) -> App:
    """Return an empty app with the feature flags of cdk.json."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    return App(context=flags, outdir=str(folder))


@dataclass(frozen=True)
class Synthesis:
    """One environment's templates."""

    config: EnvironmentConfig
    catalogue: Catalogue
    templates: Mapping[str, dict[str, Any]]
    """By part: `network`, `cache`, `data`, `service`."""

    def all_of(self, kind: str, part: str | None = None) -> dict[str, Resource]:
        """Return the resources of a CloudFormation type by logical id, of one part or of all."""
        parts = [self.templates[part]] if part else self.templates.values()
        return {
            name: resource
            for template in parts
            for name, resource in template["Resources"].items()
            if resource["Type"] == kind
        }

    def one_of(self, kind: str, **properties: object) -> dict[str, Any]:
        """Return the properties of the one resource of a type that has these properties."""
        found = [
            resource["Properties"]
            for resource in self.all_of(kind).values()
            if properties.items() <= resource.get("Properties", {}).items()
        ]
        assert len(found) == 1, f"{len(found)} of {kind} with {properties}"
        return dict(found[0])


def synthesise(
    environment: str, folder: Path, catalogue: Catalogue | None = None, **more: str
) -> Synthesis:
    """Return an environment as `app.py` would make it; `more` are further `-c` arguments."""
    app = new_app(folder)
    config = read(context_of(environment, **more).get)
    models = catalogue or load(CATALOGUE, environment)
    compose(app, config=config, catalogue=models, root=ROOT)
    app.synth()
    prefix, suffix = f"tidegate-{environment}-", ".template.json"
    return Synthesis(
        config=config,
        catalogue=models,
        templates={
            path.name.removeprefix(prefix).removesuffix(suffix): json.loads(path.read_text())
            for path in sorted(folder.glob(f"{prefix}*{suffix}"))
        },
    )
