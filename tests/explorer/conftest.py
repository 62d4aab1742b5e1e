"""The real Redis that the twins are held against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.patience import REDIS
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings


@pytest.fixture
def valkey(redis_url: str) -> Iterator[Valkey]:
    door = Valkey(RedisSettings(redis_url, None, None, "us-east-1"), None, SystemClock(), REDIS)
    yield door
    door.close()
