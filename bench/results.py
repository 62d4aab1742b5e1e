"""Where figures go: one JSON file per part, beside what was printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


def written(part: str, figures: Any) -> Path:
    """Write the figures of a part as JSON and return where they are."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{part}.json"
    path.write_text(json.dumps(_plain(figures), indent=2) + "\n", encoding="utf-8")
    return path


def _plain(figures: Any) -> Any:
    if is_dataclass(figures) and not isinstance(figures, type):
        return asdict(figures)
    if isinstance(figures, Sequence) and not isinstance(figures, str):
        return [_plain(each) for each in figures]
    return figures
