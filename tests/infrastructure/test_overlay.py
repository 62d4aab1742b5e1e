"""A local deployment with keys of its own: what is synthesised is what functions will read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra import build
from infra.build import CATALOGUE, Target
from infra.environment import EnvironmentRefused, read
from tests.infrastructure.synthesis import ROOT, context_of
from tidegate.rules.catalogue import CatalogueError, load

HERE = Target(None)
OVERLAY = "[models.chat-mini]\nmax_concurrency = 7\n[models.chat-mini.retry]\nbase = 0.25\n"


def _checkout(folder: Path) -> Path:
    shutil.copytree(ROOT / "layers" / "tidegate", folder / "layers" / "tidegate")
    return folder


def test_the_layer_has_the_overlays_keys_and_all_others_of_the_local_catalogue(
    tmp_path: Path,
) -> None:
    root = _checkout(tmp_path)
    usual = load(build.library(root, HERE) / CATALOGUE, "local").models
    laid = load(build.library(root, HERE, OVERLAY) / CATALOGUE, "local").models
    entry = laid["chat-mini"]
    assert (entry.max_concurrency, entry.retry.base) == (7, 0.25)
    assert entry.retry.cap == usual["chat-mini"].retry.cap
    assert entry.timeouts == usual["chat-mini"].timeouts
    assert {name: laid[name] for name in laid if name != "chat-mini"} == {
        name: usual[name] for name in usual if name != "chat-mini"
    }


def test_what_other_stacks_are_built_of_stays_as_it_is(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    usual = build.library(root, HERE)
    before = usual.stat().st_ino, (usual / CATALOGUE / "catalogue.local.toml").read_bytes()
    one, other = build.library(root, HERE, OVERLAY), build.library(root, HERE, "")
    assert len({usual, one, other}) == 3
    assert build.library(root, HERE) == usual
    assert (
        usual.stat().st_ino,
        (usual / CATALOGUE / "catalogue.local.toml").read_bytes(),
    ) == before


def test_a_layer_with_an_overlay_is_built_once(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    before = build.library(root, HERE, OVERLAY).stat().st_ino
    assert build.library(root, HERE, OVERLAY).stat().st_ino == before


def test_an_overlay_adds_no_model(tmp_path: Path) -> None:
    layer = build.library(_checkout(tmp_path), HERE, "[models.none-such]\ntask = 'chat'\n")
    with pytest.raises(CatalogueError, match=r"models\.none-such: the overlay names a model"):
        load(layer / CATALOGUE, "local")
    load(layer / CATALOGUE, "dev")


def test_an_overlay_belongs_to_the_local_environment(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentRefused, match="overlay belongs to env=local, not to env=prod"):
        read(context_of("prod", overlay=str(tmp_path / "x.toml")).get)


@pytest.mark.parametrize(("text", "said"), [(None, "No such file"), ("[a", "overlay=")])
def test_an_overlay_that_cannot_be_read_is_named(
    text: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(EnvironmentRefused, match=said):
        read(context_of("local", overlay=str(path)).get)


def test_the_app_reads_the_catalogue_that_it_deploys(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text("[models.chat-mini]\nmax_concurency = 7\n")
    flags = context_of("local", overlay=str(path))
    script = (
        "import json, os, sys, runpy; os.environ['CDK_CONTEXT_JSON'] = json.dumps("
        f"{flags!r}); sys.argv = ['app.py']; runpy.run_path('app.py', run_name='__main__')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "models.chat-mini.max_concurency" in ended.stderr
