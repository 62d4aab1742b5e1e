"""What is zipped: the two layers and the functions, built on this machine without Docker.

The runtime's file system is read-only, so bytecode that is missing is compiled again at every
cold start, and CDK dates every file of a zip 1980, which makes ordinary bytecode stale. Hence
hash-based bytecode that is never checked, compiled by an interpreter of the runtime's own minor
version; where none is installed the zips go without and start slower.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tidegate.rules.catalogue import OWN

CATALOGUE = Path("python", "catalogue")
"""Where the catalogue is in the library layer."""

RUNTIME_PYTHON = "3.13"
"""The Lambda runtime's (docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html)."""

_PROVIDED = ("boto3", "botocore", "s3transfer")
"""The runtime brings these; 30 MB that every cold start would pay for twice."""

_UNWANTED = ("tests", "__pycache__", "bin", "sboms")


class BuildFailed(RuntimeError):
    """A layer could not be built; `str()` holds the tool's own message."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the code will run."""

    platform: str | None
    """As uv names it, e.g. `aarch64-manylinux_2_28`; None: this machine and this interpreter."""

    @property
    def python(self) -> str:
        """Return the minor version of the interpreter that will import the layer."""
        return RUNTIME_PYTHON if self.platform else f"{sys.version_info[0]}.{sys.version_info[1]}"

    @property
    def label(self) -> str:
        """Return a name for folders: platform and Python."""
        return f"{self.platform or sysconfig.get_platform()}-py{self.python}"


def dependencies(root: Path, target: Target) -> Path:
    """Return the folder of the dependency layer, built from `requirements/runtime.txt` if need be.

    Raises:
        BuildFailed: uv is missing, or refuses the requirements.
    """
    requirements = root / "requirements" / "runtime.txt"

    def install(folder: Path) -> None:
        packages = folder / "python"
        where = ["--python", sys.executable]
        if target.platform:
            where = ["--python-platform", target.platform, "--python-version", target.python]
        # Hash-checked wheels only: nothing is resolved, nothing is built, nothing runs.
        options = ["--only-binary", ":all:", "--require-hashes", "--no-deps", "--link-mode", "copy"]
        _uv("pip", "install", "-q", "--target", str(packages), *where, *options, "-r", requirements)
        _strip(packages)

    return _built(root, f"dependencies-{target.label}", [requirements], target, install)


def library(root: Path, target: Target, overlay: str | None = None) -> Path:
    """Return the folder of the library layer: `layers/tidegate` with bytecode.

    With an overlay, a TOML document for one local deployment, it is another folder, which has that
    too: functions lay it over the local catalogue as synth does.
    """
    source = root / "layers" / "tidegate" / "python"
    if overlay is None:
        return _copied(root, source, "python", "library", target)

    def lay_over(folder: Path) -> None:
        (folder / CATALOGUE / OWN.format("local")).write_text(overlay, encoding="utf-8")

    # Stacks run side by side: each overlay has a folder, and none changes what others are made of.
    name = f"library-{hashlib.sha256(overlay.encode()).hexdigest()[:12]}"
    return _copied(root, source, "python", name, target, change=lay_over)


def function(root: Path, target: Target, package: str) -> Path:
    """Return the folder of a function's code: `functions/<package>`, still a package, alone."""
    source = root / "functions" / package
    return _copied(root, source, package, f"function-{package}", target, "/var/task")


def _copied(
    root: Path,
    source: Path,
    below: str,
    name: str,
    target: Target,
    prefix: str = "/opt",
    change: Callable[[Path], None] = lambda _folder: None,
) -> Path:
    """Return `.build/<name>-<target>` with the Python files of `source` in its folder `below`.

    `change` is given the copy; what it does must be told by the name.
    """
    unwanted = shutil.ignore_patterns(*_UNWANTED, "*.pyc")
    files = sorted(
        path
        for path in source.rglob("*")
        if path.is_file() and not {*path.relative_to(source).parts} & {*_UNWANTED}
    )

    def copy(folder: Path) -> None:
        shutil.copytree(source, folder / below, ignore=unwanted)
        change(folder)

    return _built(root, f"{name}-{target.label}", files, target, copy, prefix)


def _built(
    root: Path,
    name: str,
    sources: list[Path],
    target: Target,
    fill: Callable[[Path], None],
    prefix: str = "/opt",
) -> Path:
    """Return `.build/<name>`, filled again if a source, the recipe or the compiler changed."""
    compiler = _compiler(target)
    digest = hashlib.sha256(f"{name} {compiler is not None}".encode())
    digest.update(Path(__file__).read_bytes())
    for path in sources:
        digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    final, stamp = root / ".build" / name, root / ".build" / f"{name}.stamp"
    final.parent.mkdir(exist_ok=True)
    with _alone(final.parent):
        if final.is_dir() and stamp.is_file() and stamp.read_text() == digest.hexdigest():
            return final
        with tempfile.TemporaryDirectory(dir=final.parent) as scratch:
            folder = Path(scratch) / name
            fill(folder)
            if compiler is not None:
                _compile(folder, compiler, prefix)
            shutil.rmtree(final, ignore_errors=True)
            folder.rename(final)
        stamp.write_text(digest.hexdigest())
    return final


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other builds out of a folder: tests and a local deployment may run at once."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(folder: Path, compiler: str, prefix: str) -> None:
    """Write bytecode that is the same in every build: no times, no path of this machine."""
    _run(
        compiler, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash",
        "-s", folder, "-p", prefix, folder,
    )  # fmt: skip


def _compiler(target: Target) -> str | None:
    """Return an interpreter whose bytecode the target can load, or None."""
    if target.platform is None:
        return sys.executable
    name = f"python{target.python}"
    # pyenv's shim on the PATH fails unless that version is the selected one; its folder does not.
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    shims = sorted(map(str, pyenv.glob(f"versions/{target.python}.*/bin/{name}")), reverse=True)
    for candidate in (sys.executable, shutil.which(name), *shims):
        if candidate and _minor_version(candidate) == target.python:
            return candidate
    return None


def _minor_version(interpreter: str) -> str | None:
    try:
        return _run(interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    except (BuildFailed, OSError):
        return None


def _strip(packages: Path) -> None:
    """Remove what no function imports: the runtime's own packages, tests, scripts, type stubs."""
    for path in packages.iterdir():
        if path.name.split("-")[0] in _PROVIDED:
            shutil.rmtree(path)
    for path in list(packages.rglob("*")):
        if path.is_dir() and path.name in _UNWANTED:
            shutil.rmtree(path)
        elif path.suffix == ".pyi":
            path.unlink()


def _uv(*arguments: str | Path) -> str:
    return _run(sys.executable, "-m", "uv", *arguments)


def _run(*command: str | Path) -> str:
    environment = os.environ | {"UV_PYTHON_DOWNLOADS": "never", "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise BuildFailed(f"{' '.join(map(str, command[:4]))} …: {done.stderr.strip()}")
    return done.stdout
