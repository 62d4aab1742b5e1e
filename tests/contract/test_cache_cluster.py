"""One way through all of the cache on a cluster: every call of it is one slot's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cli.local import redis
from tests.contract import books
from tests.contract.caching import (
    CHAT,
    HARD,
    SOFT,
    Deploy,
    chat,
    entry_key,
    forget,
    made,
    numbered,
    refreshes,
    void,
    with_cache,
    work,
)
from tests.contract.test_cache_code import MODEL, NAMES, ONE, asked
from tests.fakes import answer
from tests.patience import REDIS
from tests.pipeline import Pipeline
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.errors import VendorRefused
from tidegate.settings import RedisSettings


@pytest.fixture
def cluster(deploy: Deploy, redis_cluster: str) -> Iterator[Pipeline]:
    redis.flush(redis_cluster)
    models = with_cache(negative_ttl=30)
    code = with_cache(MODEL, {"normalise": "code-structure"}).models[MODEL]
    pipeline = deploy(models=models.model_copy(update={"models": {**models.models, MODEL: code}}))
    settings = RedisSettings(redis_cluster, None, None, "")
    pipeline.valkey = Valkey(settings, None, SystemClock(), REDIS)
    numbered(pipeline)
    yield pipeline
    pipeline.valkey.close()


def test_fresh_stale_made_anew_void_and_gone(cluster: Pipeline) -> None:
    key = entry_key(cluster, made(cluster, chat()))
    assert cluster.post(chat(), "fresh").json["output"] == {"text": "answer 1"}
    cluster.later(SOFT)
    assert cluster.post(chat(), "stale").json["cache"]["stale"]
    work(cluster)
    assert len(refreshes(cluster)) == 1
    assert cluster.post(chat(), "anew").json["output"] == {"text": "answer 2"}

    whole = cluster.valkey.get(key)
    assert whole is not None
    cluster.valkey._do(lambda client: client.set(key, b"\xff" + whole.encode()[1:], px=60_000))
    assert cluster.post(chat(), "damaged").json["output"] == {"text": "answer 2"}
    assert cluster.valkey.get(key) == whole
    forget(cluster)
    assert cluster.post(chat(), "emptied").json["output"] == {"text": "answer 2"}
    assert cluster.valkey.get(key) == whole

    cluster.later(1)
    past = cluster.post(chat(), "past", Cache_Control="max-age=0")
    assert (past.status, past.headers["Cache-Status"]) == (202, "tidegate; fwd=request")
    work(cluster)
    assert void(cluster, model=CHAT)["seen"]
    assert cluster.post(chat(), "void", Cache_Control="only-if-cached").status == 504
    assert cluster.post(chat(), "void").status == 202
    work(cluster)
    cluster.later(HARD)
    assert cluster.post(chat(), "gone").status == 202
    books.check(cluster)


def test_a_failure_that_is_remembered(cluster: Pipeline) -> None:
    cluster.vendor.script = [VendorRefused("400", vendor_status=400)] * 2
    for number in (1, 2):
        cluster.post(chat(), f"key-{number}")
        work(cluster)
    assert cluster.post(chat(), "held").json["cache"]["status"] == "negative"


def test_code_under_other_names(cluster: Pipeline) -> None:
    cluster.vendor.otherwise = lambda call: answer(call.input["code"])
    made(cluster, asked(ONE))
    for key in ("renamed", "own"):
        assert cluster.post(asked(NAMES), key).json["output"] == {"text": NAMES}
    assert len(cluster.vendor.calls) == 1
