"""Real servers for tests, one of each kind per session, emptied before every test."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from cli.local import node, redis, vendor
from tests.properties import ANY_MACHINE

settings.register_profile("tidegate", deadline=None, suppress_health_check=ANY_MACHINE)
settings.load_profile("tidegate")

# jsii starts Node by name; a machine without it uses the wheel's.
os.environ.setdefault("JSII_NODE", str(node.find().binary))


class FilesTogether(LoadScopeScheduling):  # type: ignore[misc]  # it ships no types
    """Keeps a file on one of the workers, and all of the deployed stack's tests on one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "system" if file.startswith("tests/system/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesTogether:
    return FilesTogether(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the deployed stack: it takes longest."""
    system = Path(__file__).parent / "system"
    items.sort(key=lambda item: system not in item.path.parents)


@pytest.fixture(autouse=True)
def _no_guard_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what a handler does to a whole process (`tidegate/log_guard.py`): pytest has hooks."""
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    made_by, disabled = logging.getLogRecordFactory(), logging.root.manager.disable
    yield
    logging.setLogRecordFactory(made_by)
    logging.disable(disabled)


@pytest.fixture(scope="session")
def redis_single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`redis://…` of one node."""
    with redis.single(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`redis+cluster://…` of three nodes."""
    with redis.cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture(scope="session")
def redis_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`redis+cluster://…` of a cluster of one node, which a proxy can stand before."""
    with redis.alone(tmp_path_factory.mktemp("alone")) as url:
        yield url


@pytest.fixture(scope="session", params=["single", "alone"])
def redis_node(request: pytest.FixtureRequest) -> str:
    """One node, once by its own client, once by a cluster's: what the cloud uses."""
    url: str = request.getfixturevalue(f"redis_{request.param}")
    return url


@pytest.fixture(params=["redis", "redis+cluster"])
def dead_redis_url(request: pytest.FixtureRequest) -> str:
    """Where nothing listens, once for each client."""
    return f"{request.param}://127.0.0.1:1/0"


@pytest.fixture(params=["single", "cluster"])
def redis_url(request: pytest.FixtureRequest) -> str:
    """Empty Redis, once as one node, once as a cluster."""
    url: str = request.getfixturevalue(f"redis_{request.param}")
    redis.flush(url)
    return url


@pytest.fixture(scope="session")
def _llmock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    child, url = vendor.start_vendor(tmp_path_factory.mktemp("vendor"))
    with child:
        yield url


@pytest.fixture
def llmock_url(_llmock: str) -> str:
    """URL of a mock vendor that has seen nothing."""
    vendor.reset(_llmock)
    return _llmock
