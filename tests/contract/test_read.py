"""Reading jobs: waiting, polling, results, and what is nobody else's business."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.test_accept import BODY, OTHER, finished
from tests.pipeline import Pipeline


def test_another_partners_job_is_not_there(pipeline: Pipeline) -> None:
    job_id = finished(pipeline)
    for path in (f"/v1/jobs/{job_id}", f"/v1/jobs/{job_id}/result"):
        answer = pipeline.get(path, partner="umbrella")
        assert (answer.status, answer.json["code"]) == (404, "not_found")


def test_waiting_ends_with_the_time_and_says_what_was_granted(pipeline: Pipeline) -> None:
    begun = pipeline.clock.time
    answer = pipeline.post(BODY, Prefer="respond-async, wait=3")
    assert answer.status == 202
    assert answer.headers["Preference-Applied"] == "wait=3"
    assert 2 <= pipeline.clock.time - begun <= 3

    long = pipeline.get(f"/v1/jobs/{answer.json['id']}", Prefer="wait=3600")
    assert long.headers["Preference-Applied"] == "wait=25"


def test_polling_with_an_etag_is_cheap(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    etag = pipeline.get(f"/v1/jobs/{job_id}").headers["ETag"]
    same = pipeline.get(f"/v1/jobs/{job_id}", If_None_Match=etag)
    assert (same.status, same.text) == (304, "")
    pipeline.deliver("chat-mini")
    assert pipeline.get(f"/v1/jobs/{job_id}", If_None_Match=etag).status == 200


def test_the_result_of_an_unfinished_job_is_a_409_to_ask_again(pipeline: Pipeline) -> None:
    job_id = pipeline.post(BODY).json["id"]
    answer = pipeline.get(f"/v1/jobs/{job_id}/result")
    assert (answer.status, answer.json["code"]) == (409, "job_not_complete")
    assert answer.headers["Retry-After"] == "1"


def test_metadata_is_kept_and_no_part_of_the_work(pipeline: Pipeline) -> None:
    first = pipeline.post({**BODY, "metadata": {"order": "7"}}, "a")
    assert first.json["metadata"] == {"order": "7"}
    assert pipeline.post({**BODY, "metadata": {"order": "8"}}, "b").json["id"] == first.json["id"]


@pytest.mark.parametrize("model", ["chat-mini", "risk-report", "image-studio"])
def test_the_status_item_stays_small(pipeline: Pipeline, model: str) -> None:
    inputs: dict[str, Any] = {
        "chat-mini": BODY["input"],
        "risk-report": {"text": "t" * 100_000},
        "image-studio": {"prompt": "a cat"},
    }
    pipeline.post({"model": model, "input": inputs[model], "metadata": {"k": "v" * 500}})
    (status,) = [i for i in pipeline.items() if i["sk"]["S"] == "status"]
    size = sum(len(name) + len(str(next(iter(value.values())))) for name, value in status.items())
    assert size < 1024


def reads(pipeline: Pipeline, key: str) -> list[str]:
    """Return the DynamoDB reads that one post costs."""
    seen: list[str] = []

    def hook(event_name: str, **_: Any) -> None:
        seen.append(event_name.rpartition(".")[2])

    pipeline.hook_dynamodb(hook)
    assert pipeline.post(BODY, key).status in {200, 202}
    return [operation for operation in seen if operation in {"GetItem", "Query"}]


def test_a_hit_in_redis_reads_nothing_from_dynamodb(pipeline: Pipeline) -> None:
    finished(pipeline)
    assert reads(pipeline, "another-key") == []


def test_a_new_job_costs_one_read(pipeline: Pipeline) -> None:
    """The one look whether the work is answered or running already."""
    pipeline.post(OTHER, "first")  # epochs are learnt from DynamoDB once, then with the look
    assert reads(pipeline, "a-key") == ["Query"]
