"""Code that differs in layout, comments or names of its own: one call, each in its own words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import books
from tests.contract.caching import (
    Deploy,
    durable,
    forget,
    made,
    refreshes,
    results,
    spent,
    with_cache,
    work,
)
from tests.contract.jobs import loaded
from tests.fakes import answer
from tests.pipeline import Pipeline

MODEL = "code-command"
ONE = (
    "def total(items, rate):\n    acc = 0\n    for i in items:\n"
    "        acc += i * rate\n    return acc\n"
)
LAYOUT = ONE.replace("acc = 0", "acc  =  0").replace("i * rate", "i*rate")
COMMENTS = "# what it all comes to\n" + ONE.replace("return acc", "return acc  # done")
NAMES = (
    "def total(prices, tax):\n    result = 0\n    for each in prices:\n"
    "        result += each * tax\n    return result\n"
)
OTHER = ONE.replace("i * rate", "i + rate")
ANSWER = ONE.replace("acc = 0", "acc = 0.0")


def asked(code: str, **fields: Any) -> dict[str, Any]:
    instruction = "Make it precise."
    return {
        "model": MODEL,
        "input": {"instruction": instruction, "language": "python", "code": code},
        **fields,
    }


def built(deploy: Deploy, normalise: str, *, comments: bool = True) -> Pipeline:
    """Return a pipeline whose code model goes by so much, and answers in the first one's names."""
    entry = {"normalise": normalise, "ignore_comments": comments}
    pipeline = deploy(models=with_cache(MODEL, entry))
    pipeline.vendor.otherwise = lambda call: answer(
        call.input["code"].replace("acc = 0", "acc = 0.0").replace("result = 0", "result = 0.0")
    )
    return pipeline


@pytest.fixture
def structure(deploy: Deploy) -> Pipeline:
    return built(deploy, "code-structure")


@pytest.mark.parametrize(
    ("normalise", "comments", "hits"),
    [
        ("exact", False, set()),
        ("text", False, set()),
        ("code", False, {"layout"}),
        ("code", True, {"layout", "comments"}),
        ("code-structure", False, {"layout", "names"}),
        ("code-structure", True, {"layout", "comments", "names"}),
    ],
)
def test_how_far_code_may_differ_is_the_entrys(
    deploy: Deploy, normalise: str, comments: bool, hits: set[str]
) -> None:
    pipeline = built(deploy, normalise, comments=comments)
    made(pipeline, asked(ONE))
    variants = {"layout": LAYOUT, "comments": COMMENTS, "names": NAMES, "other": OTHER}
    served = {
        name: pipeline.post(asked(code), name, Cache_Control="only-if-cached").status
        for name, code in variants.items()
    }
    assert {name for name, status in served.items() if status == 200} == hits
    assert set(served.values()) <= {200, 504}


def test_names_of_its_own_come_back_and_stay_readable(structure: Pipeline) -> None:
    first = made(structure, asked(ONE))
    before = spent(structure)
    hit = structure.post(asked(NAMES), "b")
    own = NAMES.replace("result = 0", "result = 0.0")
    assert (hit.status, hit.json["source"], hit.json["output"]) == (200, "cache", {"text": own})
    job_id = hit.json["id"]
    for partner, status in (("acme", 200), ("umbrella", 404)):
        read = structure.get(f"/v1/jobs/{job_id}/result", partner)
        assert read.status == status
        if status == 200:
            assert read.json == {"text": own}
    assert structure.get(f"/v1/jobs/{job_id}").json["output"] == {"text": own}
    assert structure.get(f"/v1/jobs/{first}/result").json == {"text": ANSWER}
    assert structure.post(asked(NAMES), "b").headers["X-Cache-Lookup"] == "HIT-IDEMPOTENT"
    assert (len(structure.vendor.calls), spent(structure)) == (1, before)
    books.check(structure)


def test_next_time_it_is_found_under_its_own_names(structure: Pipeline) -> None:
    made(structure, asked(ONE))
    assert len(results(structure)) == 2  # its own name, and its structure's
    structure.later(10)
    first = structure.post(asked(NAMES), "b").json
    assert len(results(structure)) == 3
    holder = loaded(structure, first["id"])
    assert holder.answer_of == holder.id
    structure.later(10)
    again = structure.post(asked(NAMES), "c").json
    assert (again["output"], again["cache"]["age_seconds"]) == (first["output"], 20)
    assert loaded(structure, again["id"]).answer_of == holder.id


def test_with_redis_emptied_the_structure_is_found_in_dynamodb(structure: Pipeline) -> None:
    made(structure, asked(ONE))
    assert len(durable(structure)) == 2
    for key, code in (("b", NAMES), ("c", NAMES), ("d", ONE)):
        forget(structure)
        assert structure.post(asked(code), key).status == 200
    assert len(structure.vendor.calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"Here acc is exact:\n```python\n{ANSWER}```\n",  # a name in the prose
        f"```python\n{ANSWER}",  # a fence without end
        ANSWER.replace("return acc", "return eval('acc')"),
        ANSWER + "def broken(:\n",
    ],
    ids=["prose", "fence", "text", "broken"],
)
def test_what_cannot_be_said_in_other_names_for_certain_is_a_miss(
    structure: Pipeline, text: str
) -> None:
    structure.vendor.script = [answer(text)]
    made(structure, asked(ONE))
    assert structure.post(asked(ONE), "same").json["output"] == {"text": text}
    missed = structure.post(asked(NAMES), "b")
    assert (missed.status, missed.headers["Cache-Status"]) == (202, "tidegate; fwd=miss")
    work(structure, MODEL)
    own = structure.post(asked(NAMES), "b").json["output"]["text"]
    assert own == NAMES.replace("result = 0", "result = 0.0")


def test_a_stale_answer_is_made_anew_in_the_names_of_who_asked(structure: Pipeline) -> None:
    made(structure, asked(ONE))
    structure.later(1500)
    hit = structure.post(asked(NAMES), "b").json
    assert (hit["cache"]["stale"], len(refreshes(structure))) == (True, 1)
    work(structure, MODEL)
    assert structure.vendor.calls[-1].input["code"] == NAMES
    fresh = structure.post(asked(NAMES), "c").json
    assert (fresh["cache"]["stale"], fresh["output"]) == (False, hit["output"])


def test_no_structure_is_looked_for_where_answers_are_not_kept(structure: Pipeline) -> None:
    made(structure, asked(ONE))
    for key, said in (("b", "no-store"), ("c", "no-cache")):
        assert structure.post(asked(NAMES), key, Cache_Control=said).status == 202
    work(structure, MODEL)
    assert len(structure.vendor.calls) == 3
