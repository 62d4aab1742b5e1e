"""The real CDK application, deployed to the emulator by the real CDK command line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from cli import ROOT
from cli.local import node
from cli.local.emulator import ACCOUNT, CREDENTIALS, REGION
from cli.local.processes import Child, environment


def deploy(folder: Path, endpoint: str, context: Mapping[str, str]) -> dict[str, str]:
    """Deploy every stack with `context`; return the outputs of all stacks by name.

    Raises:
        StartFailed: a command failed; ends with what it said.
    """
    assembly, outputs = folder / "cdk.out", folder / "outputs.json"
    outputs.unlink(missing_ok=True)
    chosen = [f"--context={key}={value}" for key, value in context.items()]
    emulated = environment(
        AWS_ENDPOINT_URL=endpoint,
        AWS_ENDPOINT_URL_S3=endpoint,
        AWS_REGION=REGION,
        AWS_DEFAULT_REGION=REGION,
        AWS_EC2_METADATA_DISABLED="true",
        **CREDENTIALS,
    )
    # Synthesis builds the layers: it needs this machine's way to the package index, but no AWS.
    building = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    account = [f"aws://{ACCOUNT}/{REGION}", "--app="]
    with (
        # Neither needs the other, and both take seconds.
        _cdk(folder, emulated, "bootstrap", *account) as prepared,
        _cdk(folder, building, "synth", "--quiet", f"--output={assembly}", *chosen) as synthesised,
    ):
        synthesised.finish()
        prepared.finish()
    arguments = [f"--app={assembly}", "--all", "--require-approval=never", "--progress=events"]
    arguments += ["--concurrency=4", f"--outputs-file={outputs}"]
    with _cdk(folder, emulated, "deploy", *arguments) as deployed:
        deployed.finish()
    stacks = json.loads(outputs.read_text(encoding="utf-8"))
    return {name: value for stack in stacks.values() for name, value in stack.items()}


def _cdk(folder: Path, env: Mapping[str, str], command: str, *arguments: str) -> Child:
    """Start one command of the CDK CLI; its caches, too, stay in the folder."""
    found = node.find()
    return Child(
        f"cdk {command}",
        [*found.command("cdk"), command, *arguments, "--no-notices"],
        log=folder / "logs" / f"{command}.log",
        env={**env, **found.environment(), "CDK_HOME": str(folder / "cdk")},
        cwd=ROOT,
    )
