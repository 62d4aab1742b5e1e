"""Runs the command from a checkout, where the library is not installed but lies in its layer."""

import sys

from cli import ROOT

sys.path.insert(0, str(ROOT / "layers" / "tidegate" / "python"))

from cli.main import app

app(prog_name="tidegate")
