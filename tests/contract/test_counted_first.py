"""A post is counted before anything is done for it that costs more than the counting."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from redis import Redis

from api.posted import posted
from api.replies import Reply
from api.routes import resolver
from tests.contract.caching import Deploy, chat, made, with_cache
from tests.contract.redis_proxy import Proxy, Trouble, before
from tests.contract.test_cache_code import MODEL, ONE, asked
from tests.contract.test_partner_limits import left, limited
from tests.fakes import answer
from tests.patience import REDIS
from tests.pipeline import Pipeline
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey
from tidegate.errors import RateLimited
from tidegate.flows import allow
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.request import JobRequest, parse
from tidegate.settings import RedisSettings

LARGER = ONE + ONE.replace("total", "sum_of") + ONE.replace("total", "all_of")
assert len(LARGER) > allow.LARGE_CODE > len(ONE)
HOSTILE = "a=>" * 2_000


@pytest.fixture
def two(deploy: Deploy, redis_single: str) -> Iterator[tuple[Pipeline, Proxy, list[str]]]:
    """Two posts per minute; what was read as code; and what was asked of Redis."""
    code = with_cache(MODEL, {"normalise": "code-structure"}).models[MODEL]
    models = limited(2)
    models = models.model_copy(update={"models": {**models.models, MODEL: code}})
    pipeline = deploy(models=models)
    with before(redis_single) as (proxy, url):
        pipeline.valkey = Valkey(RedisSettings(url, None, None, ""), None, SystemClock(), REDIS)
        read: list[str] = []
        real = pipeline.api
        bounded = real.doors.look.bounded

        def noted(work: Callable[..., Any], text: str, *args: Any) -> Any:
            read.append(text)
            return bounded(work, text, *args)

        look = replace(real.doors.look, bounded=noted)
        spied = replace(real, doors=replace(real.doors, look=look))
        pipeline._thread.api, pipeline._thread.app = spied, resolver(spied)
        yield pipeline, proxy, read
        pipeline.valkey.close()


def test_code_is_not_read_for_a_post_that_is_refused(
    two: tuple[Pipeline, Proxy, list[str]],
) -> None:
    pipeline, proxy, read = two
    answers = [pipeline.post(asked(LARGER + f"# {n}"), f"key-{n}") for n in range(2)]
    assert [each.status for each in answers] == [202, 202]
    assert [left(each) for each in answers] == [1, 0]  # each was counted once
    assert read
    read.clear()
    turns = proxy.turns
    refused = pipeline.post(asked(HOSTILE), "key-3")
    assert (refused.status, refused.json["code"]) == (429, "rate_limited")
    assert (read, proxy.turns - turns) == ([], 1)


def test_a_large_body_is_not_parsed_for_a_post_that_is_refused(
    two: tuple[Pipeline, Proxy, list[str]],
) -> None:
    pipeline, _proxy, _read = two
    parsed: list[int] = []

    def noting(raw: bytes, catalogue: Catalogue) -> JobRequest:
        parsed.append(len(raw))
        return parse(raw, catalogue)

    app = APIGatewayRestResolver()
    api = pipeline.api

    @app.post("/v1/jobs")
    def submit() -> Reply:
        accepted, _ = posted(app, api, noting, "jobs")
        return Response(status_code=202, body=accepted.job.id)

    app.exception_handler(RateLimited)(lambda _error: Response(status_code=429))
    pipeline._thread.app = app
    body = {**chat(), "input": {"messages": [{"role": "user", "content": "é" * 40_000}]}}
    assert [pipeline.post(body, f"key-{n}").status for n in range(3)] == [202, 202, 429]
    assert len(parsed) == 2


def test_where_redis_is_out_of_reach_a_large_post_is_taken_uncounted(
    two: tuple[Pipeline, Proxy, list[str]],
) -> None:
    pipeline, proxy, _read = two
    for number in range(3):
        proxy.next(Trouble.CUT, 50)
        accepted = pipeline.post(asked(LARGER + f"# {number}"), f"key-{number}")
        assert (accepted.status, "RateLimit" in accepted.headers) == (202, False)


def test_a_hit_on_larger_code_costs_one_round_trip_more(
    two: tuple[Pipeline, Proxy, list[str]], redis_single: str
) -> None:
    pipeline, proxy, _read = two
    pipeline.vendor.otherwise = lambda call: answer(call.input["code"])
    for code, round_trips in ((ONE, 1), (LARGER, 2)):
        with Redis.from_url(redis_single) as client:
            client.delete("tg:{partner:acme}:posts")
        made(pipeline, asked(code), f"first-{round_trips}")
        turns = proxy.turns
        hit = pipeline.post(asked(code), f"again-{round_trips}")
        assert hit.json["source"] == "cache"
        assert (proxy.turns - turns, left(hit)) == (round_trips, 0)


@pytest.mark.parametrize("language", ["python", "javascript", "typescript", "java", "go"])
def test_hostile_code_is_a_job_like_any_other(deploy: Deploy, language: str) -> None:
    pipeline = deploy(models=with_cache(MODEL, {"normalise": "code-structure"}))
    body = asked(HOSTILE)
    body["input"]["language"] = language
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    first = pipeline.post(body, "key")
    now = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    assert sum(n.ru_utime - u.ru_utime for n, u in zip(now, used, strict=True)) < 1.5
    again = pipeline.post(body, "key")
    assert (first.status, again.status) == (202, 202)
    assert again.json["id"] == first.json["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
