"""One fault at every AWS call of every story."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto.core.models import MockAWS

from tests.contract.world import World
from tests.pipeline import catalogue, create_tables_and_queues


@pytest.fixture(scope="module")
def world(_moto: MockAWS, redis_single: str) -> Iterator[World]:
    _moto.reset()
    create_tables_and_queues(catalogue())
    with pytest.MonkeyPatch.context() as patch:
        made = World(redis_single, patch)
        yield made
        made.close()
