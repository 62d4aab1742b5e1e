"""The peers' packages: an environment of their own, made when a bench first needs it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from cli import ROOT

LOCK = ROOT / "requirements" / "peers.txt"


class PeerUnavailable(RuntimeError):
    """A peer's packages cannot be had here; `str()` ends with what the installer said."""


def installed(folder: Path) -> Path:
    """Return the folder of the commands of an environment in `folder` that is as the lock says.

    Raises:
        PeerUnavailable: it could not be made.
    """
    wanted = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()
    stamp = folder / "made-of"
    if stamp.exists() and stamp.read_text() == wanted:
        return folder / "bin"
    python = folder / "bin" / "python"
    _uv("venv", "--clear", "--python", sys.executable, str(folder))
    _uv("pip", "sync", "--python", str(python), "--require-hashes", str(LOCK))
    stamp.write_text(wanted)
    return folder / "bin"


def locked(package: str) -> str:
    """Return the version of a package in the lock file."""
    found = re.search(rf"^{re.escape(package)}==(\S+)", LOCK.read_text(), re.MULTILINE)
    if found is None:
        raise LookupError(f"{LOCK.name} has no {package}")
    return found[1]


def _uv(*arguments: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    done = subprocess.run(
        [uv, "--quiet", *arguments],
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().splitlines()[-5:]
        raise PeerUnavailable("\n".join([f"uv {arguments[0]} failed", *said]))
