"""Real doors: DynamoDB, SQS and S3 on moto, a real Redis in both of its modes."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import MockAWS

from cli.local import redis
from tests import moto_memory, moto_snapshots
from tests.contract import virtual
from tests.contract.caching import CHAT, PRICE, numbered, priced, with_cache
from tests.contract.virtual import StrictValkey
from tests.contract.world import World, deployed
from tests.patience import REDIS
from tests.pipeline import Pipeline, catalogue, create_tables_and_queues
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings


def _one_at_a_time(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return moto's answering behind a lock: its queries break while another thread writes.

    Requests of many threads still interleave as they please, each being answered whole.
    """
    lock = threading.RLock()

    def answered(*args: Any, **named: Any) -> Any:
        with lock:
            return answer(*args, **named)

    return answered


@pytest.fixture(scope="module")
def _moto() -> Iterator[MockAWS]:
    """One mock per module: boto3 forgets what it has loaded each time one begins."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        patch.delenv("AWS_ENDPOINT_URL", raising=False)
        patch.setattr(BotocoreStubber, "__call__", _one_at_a_time(BotocoreStubber.__call__))
        moto_snapshots.install(patch)
        moto_memory.install(patch)
        mock = mock_aws()
        mock.start()
        yield mock
        mock.stop()


@pytest.fixture
def aws(_moto: MockAWS) -> None:
    """Empty tables, queues and bucket."""
    _moto.reset()
    create_tables_and_queues(catalogue())


@pytest.fixture
def valkey(redis_url: str) -> Iterator[Valkey]:
    settings = RedisSettings(redis_url, None, None, "us-east-1")
    door = StrictValkey(settings, None, SystemClock(), REDIS)
    yield door
    door.close()


@pytest.fixture
def no_valkey(dead_redis_url: str) -> Iterator[Valkey]:
    """A Redis that is not there."""
    door = Valkey(RedisSettings(dead_redis_url, None, None, "us-east-1"), None, SystemClock())
    yield door
    door.close()


@pytest.fixture
def pipeline(aws: None, valkey: Valkey) -> Pipeline:
    return Pipeline(valkey)


@pytest.fixture(scope="module")
def _one_cloud(_moto: MockAWS) -> Iterator[None]:
    """Tables, queues and bucket for a module, and one client of each kind: both take long."""
    _moto.reset()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "client", functools.cache(boto3.client))
        create_tables_and_queues(catalogue())
        yield


@pytest.fixture
def deploy(_one_cloud: None, redis_single: str) -> Iterator[Callable[..., Pipeline]]:
    """Make pipelines of an emptied deployment, on one node of Redis."""
    virtual.empty_moto()
    redis.flush(redis_single)
    settings = RedisSettings(redis_single, None, None, "us-east-1")
    door = StrictValkey(settings, None, SystemClock(), REDIS)
    yield functools.partial(Pipeline, door)
    door.close()


@pytest.fixture
def lives(deploy: Callable[..., Pipeline]) -> Pipeline:
    """Chat that is fresh for `SOFT` and served for `HARD` seconds, at `PRICE`; numbered answers."""
    made_so = deploy(models=priced(CHAT, with_cache(), PRICE))
    numbered(made_so)
    return made_so


@pytest.fixture
def without_redis(aws: None, no_valkey: Valkey) -> Pipeline:
    return Pipeline(no_valkey)


@pytest.fixture(scope="module")
def deployment(_moto: MockAWS, redis_single: str) -> Iterator[World]:
    with deployed(_moto, redis_single) as made:
        yield made


@pytest.fixture
def world(deployment: World) -> World:
    """A deployment at the time that it is: a switch has an end that Redis compares with its own."""
    deployment.begin()
    deployment.clock.time = time.time()
    return deployment
