"""The import budget: what a cold start of each function may load, and what it must not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PATHS = [str(ROOT / "functions"), str(ROOT / "layers" / "tidegate" / "python")]

COUNT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
__import__(sys.argv[2])
print(json.dumps(sorted(sys.modules)))
"""

NEVER = {"aws_xray_sdk", "fastapi", "tests", "moto", "pandas", "numpy", "psycopg"}
REPAIR = NEVER | {
    "httpx",
    "redis",
    "jsonschema_rs",
    "tidegate.vendors",
    "tidegate.gate",
    "aws_lambda_powertools.event_handler",
}
FORBIDDEN = {
    "api.handler": NEVER
    | {"httpx", "httpcore", "jsonschema_rs", "tidegate.vendors", "tidegate.gate", "worker"},
    "authorizer.handler": NEVER
    | {"httpx", "jsonschema_rs", "redis", "pydantic", "aws_lambda_powertools", "tidegate.flows"},
    "worker.handler": NEVER
    | {"jsonschema_rs", "api", "aws_lambda_powertools.event_handler", "tidegate.doors.valkey_iam"},
    "sweeper.handler": REPAIR,
    "replay.handler": REPAIR,
}
MOST = {
    "api.handler": 780,
    "authorizer.handler": 450,
    "worker.handler": 900,
    "sweeper.handler": 590,
    "replay.handler": 590,
}
"""Modules, a tenth over what was counted; milliseconds depend on the machine, this does not."""


@pytest.mark.parametrize("handler", FORBIDDEN)
def test_a_cold_start_loads_no_more_than_it_needs(handler: str) -> None:
    # The environment is empty: a handler that read it at import would fail here.
    run = subprocess.run(
        [sys.executable, "-c", COUNT, json.dumps(PATHS), handler],
        capture_output=True,
        check=True,
        text=True,
        env={"AWS_DEFAULT_REGION": "us-east-1", "PATH": ""},
    )
    loaded = set(json.loads(run.stdout))
    assert loaded & FORBIDDEN[handler] == set()
    assert len(loaded) <= MOST[handler]


DOORS = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from tidegate.clock import SystemClock
from tidegate.doors.dynamo import Table
from tidegate.doors.references import build
from tidegate.errors import ReferencesUnavailable
from tidegate.rules.contracts import ReferenceSource
class Secret:
    def __call__(self):
        return "nonsense"
    def forget(self):
        pass
there = ReferenceSource(source="postgresql", table="t", column="c")
sets = {"set": there if sys.argv[2] else ReferenceSource()}
built = build(sets, Table(None, "t", None, None), Secret(), SystemClock())
if sys.argv[2]:
    try:
        built.ready(sets)
    except ReferencesUnavailable:
        pass
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("postgresql", [False, True])
def test_psycopg_is_loaded_when_a_set_of_postgresql_is_asked_for(postgresql: bool) -> None:
    run = subprocess.run(
        [sys.executable, "-c", DOORS, json.dumps(PATHS), "x" if postgresql else ""],
        capture_output=True,
        check=True,
        text=True,
        env={"PATH": ""},
    )
    assert ("psycopg" in json.loads(run.stdout)) == postgresql
