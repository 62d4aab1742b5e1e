"""The CDK app: `cdk deploy --all -c env=local|dev|staging|prod`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "layers" / "tidegate" / "python"))  # infra reads the catalogue
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

from aws_cdk import App  # noqa: E402

from infra.build import CATALOGUE, BuildFailed, Target, library  # noqa: E402
from infra.environment import EnvironmentRefused, read  # noqa: E402
from infra.service import compose  # noqa: E402
from tidegate.errors import ContractUnusable  # noqa: E402
from tidegate.gate.contract import check_contracts  # noqa: E402
from tidegate.rules.catalogue import CatalogueError, load  # noqa: E402


def main() -> None:
    """Synthesise one environment, or say what is wrong in one line per mistake."""
    app = App()
    try:
        config = read(app.node.try_get_context)
        layer = ROOT / "layers" / "tidegate"
        if config.overlay is not None:
            layer = library(ROOT, Target(config.python_platform), config.overlay)
        catalogue = load(layer / CATALOGUE, config.name)
        check_contracts(catalogue.models)
        compose(app, config=config, catalogue=catalogue, root=ROOT)
    except (EnvironmentRefused, CatalogueError, ContractUnusable, BuildFailed) as error:
        sys.exit(f"tidegate: {error}")
    app.synth()


if __name__ == "__main__":
    main()
