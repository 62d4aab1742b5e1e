"""The operator's command: `tidegate`, run as `python -m cli` from the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository: where `cdk.json`, the layers and `.local/` are."""
