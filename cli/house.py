"""House rules that no linter knows; `make check` runs them as `python -m cli.house`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cli import ROOT

LONGEST = 250
"""Lines of a file; past this it tells more than one story."""

_OURS = ("app.py", "bench", "cli", "functions", "infra", "layers", "tests", "Makefile", ".ci")
_READ = {".py", ".lua", ".toml", ".json", ".sh", ""}
_MADE = {"__pycache__", "results"}
_LOCKS = ("requirements/*.txt", "requirements/*.in", "package-lock.json")


def problems(root: Path) -> Iterator[str]:
    """Yield what breaks a rule in the checkout at `root`, one line each."""
    for path in _sources(root):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LONGEST:
            yield f"{path.relative_to(root)}: {lines} lines, at most {LONGEST}"
    for pattern in _LOCKS:
        for path in root.glob(pattern):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(r"://|--(extra-)?index-url|--find-links|\"resolved\"", line):
                    # Whoever installs chooses the index; hashes say that it is the same package.
                    yield f"{path.relative_to(root)}:{number}: names a host"


def _sources(root: Path) -> Iterator[Path]:
    for name in _OURS:
        top = root / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and path.suffix in _READ and not _MADE & set(path.parts):
                yield path


if __name__ == "__main__":
    found = list(problems(ROOT))
    print("\n".join(found) or "house rules hold")
    sys.exit(bool(found))
