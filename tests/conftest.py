"""Real servers for tests, one of each kind per session, emptied before every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.local import node, redis, vendor

# jsii starts Node by name; a machine without it uses the wheel's.
os.environ.setdefault("JSII_NODE", str(node.find().binary))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file on one worker, and all that use the deployed stack: it takes longest, so first.

    (`make test` runs two workers, each with servers of its own.)
    """
    system = Path(__file__).parent / "system"
    items.sort(key=lambda item: system not in item.path.parents)
    for item in items:
        group = "system" if system in item.path.parents else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


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
