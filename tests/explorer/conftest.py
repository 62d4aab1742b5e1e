"""The real Redis that the twins are held against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings


@pytest.fixture
def valkey(redis_url: str) -> Iterator[Valkey]:
    door = Valkey(RedisSettings(redis_url, None, None, "us-east-1"), None, SystemClock(), 5.0)
    yield door
    door.close()
