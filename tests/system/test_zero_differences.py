"""After all that the other tests did: every micro-credit is explained.

The last of the folder by its name.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli import ROOT
from cli.local.emulator import CREDENTIALS
from cli.local.processes import environment
from cli.local.stack import ENVIRONMENT, StackInfo

pytestmark = pytest.mark.system


def test_the_ledger_explains_every_balance_and_every_job(stack: StackInfo) -> None:
    command = [sys.executable, "-m", "cli", "ledger", "verify", "--env", ENVIRONMENT]
    command += ["--endpoint-url", stack.aws_endpoint, "--region", stack.region]
    said = subprocess.run(
        command, cwd=ROOT, env=environment(**CREDENTIALS), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (said.returncode, said.stderr) == (0, ""), said.stdout + said.stderr
    assert said.stdout.splitlines()[-1] == "differences: 0"
    assert "acme" in said.stdout
