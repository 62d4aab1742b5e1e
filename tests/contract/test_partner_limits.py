"""What one partner may ask: posts in a minute, jobs in a queue, tokens in one call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from api.handler import handle
from tests.contract import books
from tests.contract.test_accept import BODY, OTHER
from tests.fakes import LambdaContext
from tests.pipeline import ROOT, Answer, Pipeline, catalogue
from tests.unit.test_rate_limit_fields import item
from tidegate.doors.valkey import Valkey
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.pacing import Pace, PartnerLimits, Shares

IMAGE = {"model": "image-studio", "prompt": "A lighthouse"}
PROBLEM = "application/problem+json"

Make = Callable[..., Pipeline]


def limited(limit: int, **chat: Any) -> Catalogue:
    """Return the catalogue with this limit for every partner, and changes to one model."""
    models = catalogue()
    entries = {**models.models, "chat-mini": models.models["chat-mini"].model_copy(update=chat)}
    partners = PartnerLimits(requests_per_minute=limit)
    return models.model_copy(update={"models": entries, "partners": partners})


@pytest.fixture
def make(aws: None, valkey: Valkey) -> Make:
    return lambda limit, **chat: Pipeline(valkey, models=limited(limit, **chat))


@pytest.fixture
def three(make: Make) -> Pipeline:
    """Three posts per minute."""
    return make(3)


def used(pipeline: Pipeline, posts: int = 3) -> None:
    """Use up a partner's minute with one request and its repetitions."""
    for _ in range(posts):
        assert pipeline.post(BODY, "first").status == 202


def a_minute_later(pipeline: Pipeline, partner: str = "acme") -> None:
    """Redis has a clock of its own: what it would forget by then is forgotten now."""
    pipeline.valkey.delete(f"tg:{{partner:{partner}}}:posts")


def own(pipeline: Pipeline, limit: Any, key: str) -> Answer:
    """Return the answer to a post whose authorizer said what the partner's own limit is."""
    event = json.loads((ROOT / "events" / "api.json").read_text())
    event["body"], event["isBase64Encoded"] = json.dumps(BODY), False
    event["multiValueHeaders"]["Idempotency-Key"] = [key]
    event["requestContext"]["authorizer"] = {"partner": "acme", "requests_per_minute": limit}
    context: Any = LambdaContext()
    answer = handle(event, context, pipeline.api, pipeline._thread.app)
    headers = {name: values[-1] for name, values in answer["multiValueHeaders"].items()}
    return Answer(answer["statusCode"], headers, answer["body"])


def left(answer: Answer) -> int:
    assert item(answer.headers["RateLimit-Policy"])[1]["w"] == 60
    return item(answer.headers["RateLimit"])[1]["r"]


def test_every_answer_to_a_post_says_what_is_left(three: Pipeline) -> None:
    answers = [
        three.post(BODY),
        three.post({**BODY, "model": "none-such"}, "other"),
        three.send("POST", "/v1/jobs", raw="{", headers={"Content-Type": "text/plain"}),
    ]
    assert [answer.status for answer in answers] == [202, 422, 400]  # the last has no key
    assert [left(answer) for answer in answers] == [2, 1, 0]
    for answer in answers:
        assert item(answer.headers["RateLimit-Policy"]) == ("requests", {"q": 3, "w": 60})


def test_one_post_too_many_is_429_stores_nothing_and_uses_up_no_key(three: Pipeline) -> None:
    used(three)
    before, money = three.items(), books.check(three)
    sent = len(three.bodies(three.queue_url("chat-mini")))

    refused = three.post(OTHER, "fresh")
    assert (refused.status, refused.json["code"]) == (429, "rate_limited")
    assert refused.headers["Content-Type"] == PROBLEM
    assert (refused.json["retryable"], refused.headers["x-should-retry"]) == (True, "true")
    retry_after = int(refused.headers["Retry-After"])
    name, now = item(refused.headers["RateLimit"])
    assert (name, now["r"]) == ("requests", 0)
    assert 1 <= now["t"] <= retry_after <= 20  # three in a minute: one in 20 s
    assert refused.headers["X-Request-Id"]

    assert three.items() == before
    assert books.check(three) == money
    assert len(three.bodies(three.queue_url("chat-mini"))) == sent
    a_minute_later(three)
    accepted = three.post(BODY, "fresh")  # another body: the key was never taken
    assert (accepted.status, "Idempotent-Replayed" in accepted.headers) == (202, False)


def test_both_routes_that_submit_share_the_limit_and_nothing_else_has_one(three: Pipeline) -> None:
    job_id = three.post(BODY, "first").json["id"]
    used(three, 2)
    headers: dict[str, str | list[str]] = {
        "Content-Type": "application/json", "Idempotency-Key": "img",
    }  # fmt: skip
    image = three.send("POST", "/v1/images/generations", body=IMAGE, headers=headers)
    assert (image.status, image.json["code"]) == (429, "rate_limited")
    free = [three.get(path) for path in ("/v1/models", "/v1/usage", f"/v1/jobs/{job_id}")]
    free.append(three.send("POST", f"/v1/jobs/{job_id}/cancel"))
    for answer in free:
        assert (answer.status, "RateLimit" in answer.headers) == (200, False)


def test_an_images_request_says_what_is_left_too(three: Pipeline) -> None:
    headers: dict[str, str | list[str]] = {
        "Content-Type": "application/json", "Idempotency-Key": "img", "Prefer": "wait=0",
    }  # fmt: skip
    answers = [
        three.send("POST", "/v1/images/generations", body=body, headers=headers)
        for body in (IMAGE, IMAGE, {**IMAGE, "n": 99})
    ]
    assert [answer.status for answer in answers] == [202, 409, 422]
    assert [left(answer) for answer in answers] == [2, 1, 0]


def test_the_limit_comes_before_the_body_and_after_the_partner(three: Pipeline) -> None:
    used(three)
    headers: dict[str, str | list[str]] = {"Content-Type": "text/plain"}
    unread = three.send("POST", "/v1/jobs", raw="\ud800", headers=headers)
    assert unread.status == 429
    unknown = three.send("POST", "/v1/jobs", raw="{", headers=headers, partner=None)
    assert (unknown.status, "RateLimit" in unknown.headers) == (401, False)


def test_refused_posts_cost_nothing(three: Pipeline) -> None:
    used(three)
    waits = [int(three.post(BODY, "more").headers["Retry-After"]) for _ in range(30)]
    assert max(waits) <= 20


def test_another_partner_has_its_own_minute(three: Pipeline) -> None:
    used(three)
    assert three.post(BODY, "first").status == 429
    answer = three.post(BODY, "first", partner="umbrella")
    assert (answer.status, left(answer)) == (202, 2)


def test_a_partners_own_limit_counts_and_one_that_makes_no_sense_does_not(make: Make) -> None:
    pipeline = make(3)
    for number in range(5):
        answer = own(pipeline, "5", f"key-{number}")
        assert (answer.status, left(answer)) == (202, 4 - number)
    assert own(pipeline, "5", "one-more").status == 429
    for odd in ("0", "many", "-1", None):
        a_minute_later(pipeline)
        answer = own(pipeline, odd, f"odd-{odd}")
        assert (answer.status, left(answer)) == (202, 2)


def test_without_redis_posts_are_accepted_and_nothing_is_said_of_a_limit(
    without_redis: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    without_redis.models = limited(1)
    answers = [without_redis.post(BODY, f"key-{number}") for number in range(3)]
    assert {answer.status for answer in answers} == {202}
    assert not any("RateLimit" in name for answer in answers for name in answer.headers)
    assert '"CacheUnavailable"' in capsys.readouterr().out


def test_fifty_posts_at_once_are_as_many_as_may_be(make: Make) -> None:
    pipeline = make(20)
    begun = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: pipeline.post(BODY, f"key-{n}"), range(50)))
    came_back = int((time.monotonic() - begun) / 3) + 1
    statuses = [answer.status for answer in answers]
    assert set(statuses) == {202, 429}
    assert 20 <= statuses.count(202) <= 20 + came_back
    refused = [answer for answer in answers if answer.status == 429]
    assert all(1 <= int(answer.headers["Retry-After"]) <= 3 for answer in refused)
    books.check(pipeline)


@pytest.fixture
def crowded(make: Make) -> Pipeline:
    """A partner may have three jobs waiting for a model, and has."""
    pipeline = make(1000, shares=Shares(queued=3))
    for number in range(3):
        assert pipeline.post(_ask(number), f"key-{number}").status == 202
    return pipeline


def _ask(number: int, **more: Any) -> dict[str, Any]:
    return {**BODY, "params": {"max_tokens": 10 + number}, **more}


def test_one_job_too_many_in_the_queue_is_429_until_one_is_done(crowded: Pipeline) -> None:
    before = crowded.items()
    full = crowded.post(_ask(3), "key-3")
    assert (full.status, full.json["code"]) == (429, "queue_full")
    assert (full.headers["Retry-After"], full.headers["x-should-retry"]) == ("30", "true")
    assert left(full) > 0  # it is not the posts that are too many
    assert crowded.items() == before

    assert crowded.post(_ask(0), "key-0").status == 202  # a repeat needs no room
    assert crowded.post(_ask(0), "key-4").status == 202  # nor does who joins
    assert crowded.post(_ask(3), "key-3", partner="umbrella").status == 202
    crowded.deliver("chat-mini")
    assert crowded.post(_ask(3), "key-3").status == 202
    books.check(crowded)


def test_low_priority_waits_in_a_queue_of_its_own(crowded: Pipeline) -> None:
    assert crowded.post(_ask(3), "key-3").status == 429
    assert crowded.post(_ask(3, priority="low"), "key-3").status == 202


def test_what_can_never_fit_is_422_and_says_where(make: Make) -> None:
    pipeline = make(1000, pace=Pace(tokens_per_minute=500))
    never = pipeline.post({**BODY, "params": {"max_tokens": 500}})
    assert (never.status, never.json["code"]) == (422, "exceeds_token_limit")
    assert [e["pointer"] for e in never.json["errors"]] == ["/params/max_tokens", "/input"]
    assert never.headers["x-should-retry"] == "false"
    assert "Retry-After" not in never.headers
    assert pipeline.items() == []
    assert pipeline.post({**BODY, "params": {"max_tokens": 100}}).status == 202
