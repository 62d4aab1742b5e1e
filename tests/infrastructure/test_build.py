"""What is zipped: for the right machine, without what the runtime brings, the same every time."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import build
from infra.build import BuildFailed, Target
from tests.infrastructure.synthesis import ROOT

CLOUD = Target("aarch64-manylinux_2_28")
AARCH64 = 183
"""ELF's number of the machine, at byte 18 of every shared object."""


@pytest.fixture(scope="module")
def packages() -> Path:
    return build.dependencies(ROOT, CLOUD)


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _bytecode(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from folder.rglob("*.pyc")


def test_compiled_packages_are_for_the_clouds_processor(packages: Path) -> None:
    objects = list(packages.rglob("*.so"))
    assert objects
    for path in objects:
        assert int.from_bytes(path.read_bytes()[18:20], "little") == AARCH64, path.name


def test_the_layer_has_what_functions_import_and_not_what_the_runtime_brings(
    packages: Path,
) -> None:
    names = {path.name.split("-")[0] for path in (packages / "python").iterdir()}
    assert {"pydantic", "redis", "httpx", "aws_lambda_powertools", "tree_sitter_go"} <= names
    assert not {"boto3", "botocore", "s3transfer"} & names
    assert not [path for path in packages.rglob("*") if path.name in {"tests", "bin"}]


def test_a_function_unzips_far_less_than_lambda_allows(packages: Path) -> None:
    megabytes = sum(p.stat().st_size for p in packages.rglob("*") if p.is_file()) / 1e6
    assert megabytes < 80, "Lambda's limit is 250 for all layers and the function"


def test_bytecode_is_never_checked_against_dates(packages: Path) -> None:
    found = list(_bytecode(build.library(ROOT, CLOUD), packages))
    if not found:
        pytest.skip(f"no Python {CLOUD.python} here to compile with")
    for path in found:
        # PEP 552: the second word is 1 for bytecode by hash that is not checked.
        assert path.read_bytes()[4:8] == (1).to_bytes(4, "little"), path.name


def test_local_layers_have_bytecode_of_the_interpreter_that_runs_them() -> None:
    target = Target(None)
    assert list(_bytecode(build.library(ROOT, target)))
    assert list(_bytecode(build.function(ROOT, target, "worker")))


def test_a_function_is_its_own_package_alone() -> None:
    folder = build.function(ROOT, CLOUD, "api")
    assert [path.name for path in folder.iterdir()] == ["api"]
    assert (folder / "api" / "handler.py").is_file()


def _checkout(folder: Path) -> Path:
    for part in ("layers/tidegate", "requirements", "functions/worker"):
        shutil.copytree(ROOT / part, folder / part)
    return folder


def test_two_checkouts_build_the_same_bytes(tmp_path: Path) -> None:
    one, two = _checkout(tmp_path / "one"), _checkout(tmp_path / "elsewhere" / "two")
    assert _digest(build.library(one, CLOUD)) == _digest(build.library(two, CLOUD))
    first, second = (build.function(root, CLOUD, "worker") for root in (one, two))
    assert _digest(first) == _digest(second)
    assert _digest(build.dependencies(one, CLOUD)) == _digest(build.dependencies(ROOT, CLOUD))


def test_a_build_is_repeated_only_for_a_change(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    folder = build.library(root, CLOUD)
    before = folder.stat().st_ino
    assert build.library(root, CLOUD).stat().st_ino == before
    (root / "layers/tidegate/python/tidegate/new.py").write_text("NEW = 1\n")
    assert (build.library(root, CLOUD) / "python/tidegate/new.py").is_file()


def test_a_package_without_its_hash_is_refused(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "runtime.txt").write_text("idna==3.10\n")
    with pytest.raises(BuildFailed, match="hash"):
        build.dependencies(tmp_path, CLOUD)
    assert not list((tmp_path / ".build").glob("dependencies*"))
