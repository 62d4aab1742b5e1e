"""A catalogue for one local deployment: `-c overlay=…` names a TOML file of keys to be changed.

It is laid over catalogue.local.toml, in the library layer only: synth and functions read the same.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

CATALOGUE = Path("python", "catalogue")
"""Where the catalogue is in the library layer."""

LOCAL = "catalogue.local.toml"


def laid_over(below: str, over: str) -> str:
    """Return the TOML document `below` with the keys of `over`, table by table.

    Raises:
        tomllib.TOMLDecodeError: one of them is no TOML.
    """
    merged = _merged(tomllib.loads(below), tomllib.loads(over))
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in merged.items())


def _merged(below: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in over.items():
        under = merged.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        merged[key] = _merged(under, value) if both else value  # type: ignore[arg-type]
    return merged


def _value(value: object) -> str:
    """Return a TOML value on one line; of strings, numbers and booleans TOML's form is JSON's."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return json.dumps(value)
