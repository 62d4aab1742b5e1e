"""Money over real doors: reserved when accepted, settled once when ended, never below zero."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract import books
from tests.contract.jobs import ATTEMPTS, EXTRACT, REPORT, drain, loaded
from tests.contract.test_accept import BODY, finished
from tests.fakes import answer
from tests.pipeline import FUNDS, Pipeline
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.rules.job import Status


def body(number: int) -> dict[str, object]:
    return {**BODY, "params": {"seed": number}}


def test_a_job_reserves_when_accepted_and_captures_what_it_cost_when_completed(
    pipeline: Pipeline,
) -> None:
    pipeline.vendor.script = [answer("42", input_tokens=1000, output_tokens=100)]
    job = pipeline.post(BODY).json
    reserved = job["price"]["reserved_micro_credits"]
    assert reserved > 0
    usage = pipeline.get("/v1/usage").json
    assert usage["available_micro_credits"] == FUNDS - reserved
    assert usage["reserved_micro_credits"] == reserved

    drain(pipeline, "chat-mini")
    done = pipeline.get(f"/v1/jobs/{job['id']}").json
    cost = 150 + 60  # 1 000 input tokens at 150 per thousand, 100 output tokens at 600
    assert done["price"] == {"reserved_micro_credits": reserved, "charged_micro_credits": cost}
    assert books.check(pipeline)["acme"] == {
        "available": FUNDS - cost,
        "reserved": 0,
        "captured": cost,
    }


def test_never_more_than_was_reserved_is_captured(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [answer("42", input_tokens=10**9, output_tokens=10**9)]
    job_id = finished(pipeline)
    job = loaded(pipeline, job_id)
    assert job.charged == job.reserved
    books.check(pipeline)


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([VendorRefused("400", vendor_status=400)], Status.FAILED),
        ([VendorFailed("500", vendor_status=500)] * ATTEMPTS, Status.DEAD_LETTERED),
    ],
)
def test_an_end_without_an_answer_costs_nothing(
    pipeline: Pipeline, script: list[Exception], status: Status
) -> None:
    pipeline.vendor.script = [*script]
    job_id = pipeline.post(BODY).json["id"]
    drain(pipeline, "chat-mini")
    assert loaded(pipeline, job_id).status is status
    assert books.check(pipeline)["acme"]["available"] == FUNDS


def test_a_quarantined_answer_costs_nothing(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [answer("not a report")]
    job_id = pipeline.post(EXTRACT).json["id"]
    drain(pipeline, "risk-report")
    assert loaded(pipeline, job_id).status is Status.QUARANTINED
    assert books.check(pipeline)["acme"]["available"] == FUNDS


def test_a_hit_costs_its_own_price_and_a_replay_nothing(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [answer(str(REPORT).replace("'", '"').replace("False", "false"))]
    finished(pipeline, EXTRACT)
    before = books.check(pipeline)["acme"]["available"]

    hit = pipeline.post(EXTRACT, "another-key")
    assert (hit.status, hit.json["source"]) == (200, "cache")
    assert hit.json["price"] == {"reserved_micro_credits": 0, "charged_micro_credits": 100}
    for _ in range(3):
        assert pipeline.post(EXTRACT, "another-key").headers["Idempotent-Replayed"] == "true"
        assert pipeline.post(EXTRACT).headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert books.check(pipeline)["acme"]["available"] == before - 100


def test_without_funds_nothing_is_stored_and_the_key_is_not_consumed(pipeline: Pipeline) -> None:
    before = pipeline.items()
    refused = pipeline.post(BODY, partner="poor")
    assert (refused.status, refused.json["code"]) == (402, "insufficient_credits")
    assert "micro-credits" in refused.json["detail"]
    assert pipeline.items() == before
    assert pipeline.bodies(pipeline.queue_url("chat-mini")) == []

    pipeline.ledger.credit("poor", "gift", 10**6, 0)
    assert pipeline.post(BODY, partner="poor").status == 202
    books.check(pipeline)


def test_fifty_posts_with_funds_for_three_are_three_jobs(pipeline: Pipeline) -> None:
    price = pipeline.post(body(0), "probe").json["price"]["reserved_micro_credits"]
    pipeline.ledger.credit("poor", "funds", 3 * price + price // 2, 0)

    with ThreadPoolExecutor(16) as pool:
        answers = list(
            pool.map(lambda n: pipeline.post(body(n), f"key-{n}", partner="poor"), range(1, 51))
        )

    statuses = sorted(each.status for each in answers)
    assert statuses == [202] * 3 + [402] * 47
    assert len([job for job in books.jobs(pipeline) if job.partner == "poor"]) == 3
    balance = books.check(pipeline)["poor"]
    assert balance == {"available": price // 2, "reserved": 3 * price, "captured": 0}


def test_fifty_posts_of_one_key_are_one_job_one_charge_and_fifty_equal_answers(
    pipeline: Pipeline,
) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _n: pipeline.post(BODY, "one-key"), range(50)))
    drain(pipeline, "chat-mini")
    with ThreadPoolExecutor(16) as pool:
        finals = list(pool.map(lambda _n: pipeline.post(BODY, "one-key"), range(50)))

    assert {each.status for each in answers} <= {200, 202}
    assert len({each.json["id"] for each in answers}) == 1
    assert {each.status for each in finals} == {200}
    assert len({each.text for each in finals}) == 1
    (job,) = books.jobs(pipeline)
    assert len(pipeline.vendor.calls) == 1
    assert books.check(pipeline)["acme"]["captured"] == job.charged > 0


def test_the_same_work_of_one_partner_is_paid_once(pipeline: Pipeline) -> None:
    first, second = pipeline.post(BODY, "a").json, pipeline.post(BODY, "b").json
    assert first["id"] == second["id"]
    drain(pipeline, "chat-mini")
    (job,) = books.jobs(pipeline)
    assert books.check(pipeline)["acme"]["captured"] == job.charged


def test_a_credit_given_twice_under_one_name_is_given_once(pipeline: Pipeline) -> None:
    assert pipeline.ledger.credit("rich", "invoice-7", 500, 0) is True
    assert pipeline.ledger.credit("rich", "invoice-7", 500, 1) is False
    with pytest.raises(ValueError, match="invoice-7"):
        pipeline.ledger.credit("rich", "invoice-7", 600, 2)
    assert pipeline.ledger.balance("rich").available == 500
