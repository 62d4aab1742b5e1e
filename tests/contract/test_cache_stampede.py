"""Many at once ask for the same: one call to the vendor, whatever the cache has or who dies."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract import books
from tests.contract.caching import (
    CHAT,
    HARD,
    SOFT,
    Deploy,
    chat,
    made,
    numbered,
    priced,
    refreshes,
    spent,
    with_cache,
    work,
)
from tests.contract.jobs import loaded
from tests.fakes import answer
from tests.pictures import picture
from tests.pipeline import Answer, Pipeline
from tidegate.rules.job import OPERATOR, Status

MANY = 40
PARTNERS = ("acme", "umbrella", "globex", "initech", "hooli")
GATE = answer("half an ans", finish="truncated")
PRICE = 7


@pytest.fixture
def crowd(deploy: Deploy) -> Pipeline:
    pipeline = deploy(models=priced(CHAT, with_cache(negative_ttl=30), PRICE))
    numbered(pipeline)
    return pipeline


def all_at_once(pipeline: Pipeline, name: str = "k") -> list[Answer]:
    """Return the answers to forty identical posts, each with a key of its own."""
    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(lambda n: pipeline.post(chat(), f"{name}-{n}"), range(MANY)))


def test_with_nothing_in_the_cache_forty_are_one_job_and_one_call(crowd: Pipeline) -> None:
    answers = all_at_once(crowd)
    assert {a.status for a in answers} == {202}
    (job_id,) = {a.json["id"] for a in answers}
    work(crowd)
    assert len(crowd.vendor.calls) == 1
    assert {crowd.post(chat(), f"k-{n}").json["status"] for n in range(MANY)} == {"completed"}
    assert [job.id for job in books.jobs(crowd)] == [job_id]
    books.check(crowd)


def test_at_the_soft_end_forty_are_served_and_one_refresh_is_made(crowd: Pipeline) -> None:
    made(crowd, chat())
    before = spent(crowd)
    crowd.later(SOFT)
    answers = all_at_once(crowd)
    assert {(a.status, a.json["output"]["text"]) for a in answers} == {(200, "answer 1")}
    assert {a.json["cache"]["stale"] for a in answers} == {True}
    assert len(refreshes(crowd)) == 1
    work(crowd)
    assert len(crowd.vendor.calls) == 2
    assert spent(crowd) == before + MANY * PRICE
    books.check(crowd)


def test_at_the_hard_end_forty_are_one_job_again(crowd: Pipeline) -> None:
    made(crowd, chat())
    crowd.later(HARD)
    answers = all_at_once(crowd)
    assert {a.status for a in answers} == {202}
    assert len({a.json["id"] for a in answers}) == 1
    work(crowd)
    assert len(crowd.vendor.calls) == 2


def test_at_the_hard_end_with_a_refresh_at_work_the_vendor_is_asked_once(crowd: Pipeline) -> None:
    """The partner does not wait for the operator's job in the low lane, and does not pay twice."""
    made(crowd, chat())
    crowd.later(HARD - 1)
    assert crowd.post(chat(), "stale").json["cache"]["stale"]
    crowd.later(1)
    assert crowd.post(chat(), "late").status == 202
    work(crowd)
    assert len(crowd.vendor.calls) == 2
    assert {job.status for job in books.jobs(crowd)} == {Status.COMPLETED}
    books.check(crowd)


def test_while_a_leader_fails_the_gate_two_calls_are_made_and_then_none(crowd: Pipeline) -> None:
    crowd.vendor.otherwise = lambda _call: GATE
    for turn in (1, 2):
        job_id = {a.json["id"] for a in all_at_once(crowd, f"turn-{turn}")}
        work(crowd)
        assert len(crowd.vendor.calls) == turn
        for n in (0, MANY - 1):  # everybody has an answer
            again = crowd.post(chat(), f"turn-{turn}-{n}")
            assert (again.status, {again.json["id"]}) == (200, job_id)
            assert (again.json["status"], again.json["done"]) == ("quarantined", True)
    paid = spent(crowd)
    held = [crowd.post(chat(), f"held-{n}") for n in range(5)]
    assert {(a.status, a.json["status"], a.json["cache"]["status"]) for a in held} == {
        (200, "failed", "negative")
    }
    assert {a.json["error"]["code"] for a in held} == {"truncated"}
    work(crowd)
    assert len(crowd.vendor.calls) == 2
    assert spent(crowd) == paid == 0
    books.check(crowd)


@pytest.fixture
def shared(deploy: Deploy) -> Pipeline:
    models = priced(CHAT, with_cache(scope="shared", negative_ttl=30), PRICE)
    pipeline = deploy(models=models)
    for partner in PARTNERS[3:]:
        pipeline.ledger.credit(partner, "funds", 10**9, 0)
    numbered(pipeline)
    return pipeline


def test_where_answers_are_shared_five_partners_are_one_call_and_each_pays_its_price(
    shared: Pipeline,
) -> None:
    with ThreadPoolExecutor(len(PARTNERS)) as pool:
        posted = dict(
            zip(PARTNERS, pool.map(lambda p: shared.post(chat(), "k", p), PARTNERS), strict=True)
        )
    ids = {partner: answer.json["id"] for partner, answer in posted.items()}
    assert len(set(ids.values())) == len(PARTNERS)
    work(shared)
    assert len(shared.vendor.calls) == 1
    jobs = {partner: loaded(shared, job_id) for partner, job_id in ids.items()}
    assert {job.status for job in jobs.values()} == {Status.COMPLETED}
    (payer,) = [p for p in PARTNERS if not jobs[p].from_cache]
    shared.later(SOFT)
    for partner in PARTNERS:
        seen = [posted[partner], shared.post(chat(), "another", partner)]
        ids[f"{partner}'s hit"] = seen[1].json["id"]
        assert seen[1].json["output"] == {"text": "answer 1"}
        assert spent(shared, partner) == PRICE + (
            jobs[payer].charged if partner == payer else PRICE
        )
        for path in (f"/v1/jobs/{ids[partner]}", f"/v1/jobs/{seen[1].json['id']}"):
            seen += [shared.get(path, partner), shared.get(f"{path}/result", partner)]
        mine = {ids[partner], seen[1].json["id"]}
        _nothing_of_others(seen, mine, partner, shared)
    assert len(refreshes(shared)) == 1
    books.check(shared)


def _nothing_of_others(
    seen: list[Answer], mine: set[str], partner: str, pipeline: Pipeline
) -> None:
    texts = "\n".join(answer.text + json.dumps(answer.headers) for answer in seen)
    others = {job.id for job in books.jobs(pipeline)} - mine
    assert others
    for secret in others | {OPERATOR} | set(PARTNERS) - {partner}:
        assert secret not in texts, (partner, secret)


def test_a_shared_image_names_nobody_in_its_address(deploy: Deploy) -> None:
    pipeline = deploy(models=with_cache("image-studio", scope="shared"))
    image = picture()
    pipeline.vendor.otherwise = lambda _call: answer(None, images=(image,))
    body = {"model": "image-studio", "input": {"prompt": "a cat"}, "params": {"seed": 1}}
    first = made(pipeline, body)
    hit = pipeline.post(body, "b", "umbrella")
    assert (hit.status, len(pipeline.vendor.calls)) == (200, 1)
    read = pipeline.get(f"/v1/jobs/{hit.json['id']}/result", "umbrella")
    assert read.json["images"][0]["url"].startswith("https://")
    _nothing_of_others([hit, read], {hit.json["id"]}, "umbrella", pipeline)
    assert first not in read.text


def test_partners_who_wait_for_shared_work_that_fails_make_two_calls_in_all(
    shared: Pipeline,
) -> None:
    shared.vendor.otherwise = lambda _call: GATE
    ids = {partner: shared.post(chat(), "k", partner).json["id"] for partner in PARTNERS}
    work(shared)
    assert len(shared.vendor.calls) == 2
    ends = [loaded(shared, job_id) for job_id in ids.values()]
    assert sorted(job.status for job in ends) == ["failed"] * 3 + ["quarantined"] * 2
    assert {job.error.code for job in ends if job.error} == {"truncated"}
    assert {spent(shared, partner) for partner in PARTNERS} == {0}
    books.check(shared)
