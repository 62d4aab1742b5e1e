"""What must never be in the cache, and what is damaged there: neither is ever served."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tests.contract.caching import (
    Deploy,
    chat,
    durable,
    entry_key,
    made,
    numbered,
    results,
    with_cache,
    work,
    work_key,
)
from tests.contract.jobs import ATTEMPTS, EXTRACT, REPORT, loaded
from tests.contract.paces import kept
from tests.fakes import answer
from tests.pipeline import Pipeline
from tidegate.doors import envelope
from tidegate.errors import VendorFailed, VendorRefused, VendorTimeout

SECRET = "not for anybody"


@pytest.fixture
def cache(deploy: Deploy) -> Pipeline:
    pipeline = deploy(models=with_cache(negative_ttl=30))
    numbered(pipeline)
    return pipeline


def report(**changed: Any) -> str:
    return json.dumps({**REPORT, **changed})


BAD: dict[str, list[Any]] = {
    "truncated": [answer(report(), finish="truncated")],
    "empty": [answer("")],
    "none at all": [answer(None)],
    "breaks its contract": [answer(report(risk_level=SECRET))],
    "says more": [answer(report(note=SECRET))],
    "not JSON": [answer(SECRET)],
    "an error in a 200": [answer(json.dumps({"error": {"message": SECRET}}))],
    "refused": [VendorRefused(SECRET, vendor_status=400)],
    "failed": [VendorFailed(SECRET, vendor_status=500)] * ATTEMPTS,
    "late": [VendorTimeout(SECRET)] * ATTEMPTS,
}


@pytest.mark.parametrize("name", BAD)
def test_what_did_not_pass_is_in_no_cache_and_serves_nobody(deploy: Deploy, name: str) -> None:
    pipeline = deploy(models=with_cache("risk-report"))
    pipeline.vendor.script = list(BAD[name])
    job_id = pipeline.post(EXTRACT, "a").json["id"]
    work(pipeline, "risk-report")
    assert loaded(pipeline, job_id).done
    assert (results(pipeline), durable(pipeline)) == ({}, [])
    assert not [key for key in kept(pipeline.valkey) if key.endswith(":stage")]
    assert SECRET not in json.dumps(kept(pipeline.valkey)) or name in {"refused"}
    assert pipeline.post(EXTRACT, "b").status == 202
    pipeline.vendor.script = [answer(report())]
    work(pipeline, "risk-report")
    assert pipeline.post(EXTRACT, "c").json["output"] == {"data": REPORT}


def sealed(key: str, body: str, form: str = envelope.FORMAT, at: int = 1_900_000_000_000) -> str:
    """Return an entry with a proof that holds, whatever is in it."""
    proof = sha256(f"{key}\n{body}".encode()).hexdigest()
    return f"{form} {at:015d} {proof} {body}"


def bomb() -> str:
    return "z" + b64encode(gzip.compress(b"[" + b"0," * 40_000_000, 1)).decode()


def flipped(text: str, at: int) -> str:
    return text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]


def without(text: str, name: str) -> str:
    """Return an entry that lacks a field."""
    fields = json.loads(text.split(" ", 3)[3][1:])
    del fields[name]
    return "-" + json.dumps(fields)


DAMAGE: dict[str, Callable[[str, str, str], str]] = {
    "a bit of the format": lambda _key, text, _other: flipped(text, 1),
    "a bit of the time": lambda _key, text, _other: flipped(text, 6),
    "a bit of the proof": lambda _key, text, _other: flipped(text, 30),
    "a bit of the answer": lambda _key, text, _other: flipped(text, text.index("answer 1")),
    "the last bit": lambda _key, text, _other: flipped(text, len(text) - 1),
    "half of it": lambda _key, text, _other: text[: len(text) // 2],
    "nothing of it": lambda _key, _text, _other: "",
    "another question's": lambda _key, _text, other: other,
    "the format before": lambda _key, text, _other: text.replace("tg2", "tg1", 1),
    "a form of its own": lambda key, text, _other: sealed(key, "x" + text),
    "not JSON": lambda key, _text, _other: sealed(key, "-{"),
    "JSON without end": lambda key, _text, _other: sealed(key, "-" + "[" * 100_000),
    "other JSON": lambda key, _text, _other: sealed(key, "-[]"),
    "a field less": lambda key, text, _other: sealed(key, without(text, "answered_at")),
    "no base64": lambda key, _text, _other: sealed(key, "z!"),
    "no gzip": lambda key, _text, _other: sealed(key, "zQUJD"),
    "a bomb": lambda key, _text, _other: sealed(key, bomb()),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_entry_is_a_miss_and_gone(cache: Pipeline, name: str) -> None:
    job_id = made(cache, chat())
    other = made(cache, chat("another question"), "other")
    key = entry_key(cache, job_id)
    whole = cache.valkey.get(key)
    their = cache.valkey.get(entry_key(cache, other))
    assert whole is not None
    assert their is not None
    cache.valkey.set(key, DAMAGE[name](work_key(cache, job_id), whole, their), 60)

    assert cache.api.doors.cache.look(work_key(cache, job_id), cache.clock.now()).result is None
    assert cache.valkey.get(key) is None
    hit = cache.post(chat(), "b")  # DynamoDB has it whole
    assert (hit.status, hit.json["output"]) == (200, {"text": "answer 1"})
    assert cache.valkey.get(key) == whole


@pytest.mark.parametrize("at", [0, 4, 40, -3])
def test_bytes_that_are_no_text_are_a_miss_and_gone(cache: Pipeline, at: int) -> None:
    job_id = made(cache, chat())
    key = entry_key(cache, job_id)
    whole = cache.valkey.get(key)
    assert whole is not None
    raw = bytearray(whole.encode())
    raw[at] |= 0x80
    cache.valkey._do(lambda client: client.set(key, bytes(raw), px=60_000))
    hit = cache.post(chat(), "b")
    assert (hit.status, hit.json["output"]) == (200, {"text": "answer 1"})
    assert cache.post(chat(), "c").status == 200
    assert cache.valkey.get(key) == whole


@pytest.mark.parametrize("mark", ["pending", "negative", "stage"])
def test_a_damaged_mark_hinders_nobody(cache: Pipeline, mark: str) -> None:
    first = cache.post(chat(), "a").json["id"]
    key = f"tg:{{{work_key(cache, first)}}}:{mark}"
    cache.valkey._do(lambda client: client.set(key, b'{"\xff', px=60_000))
    assert cache.post(chat(), "b").json["id"] == first
    work(cache)
    assert cache.post(chat(), "c").json["output"] == {"text": "answer 1"}


def test_what_was_put_there_meanwhile_is_kept(
    cache: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = made(cache, chat())
    key = entry_key(cache, job_id)
    whole = cache.valkey.get(key)
    assert whole is not None
    cache.valkey.set(key, whole[:-1], 60)
    run = type(cache.valkey).run

    def beaten(valkey: Any, script: str, *args: Any) -> Any:
        if script == "remove_if":
            valkey.set(key, whole, 60)
        return run(valkey, script, *args)

    monkeypatch.setattr(type(cache.valkey), "run", beaten)
    assert cache.api.doors.cache.look(work_key(cache, job_id), cache.clock.now()).result is None
    assert cache.valkey.get(key) == whole


def test_every_key_of_the_cache_has_an_end_and_the_tag_of_its_work(cache: Pipeline) -> None:
    job_id = made(cache, chat(), "a")
    cache.later(1500)
    cache.vendor.script = [VendorRefused("400", vendor_status=400)]
    cache.post(chat("refused"), "b")
    work(cache)
    cache.post(chat(), "stale")
    cache.post(chat("waits"), "c")
    found = {key: key.rpartition(":") for key in kept(cache.valkey)}  # each has an end
    of_work = {"result", "pending", "negative", "refresh"}
    assert {name for _tag, _colon, name in found.values()} >= of_work
    for key, (tag, _colon, name) in found.items():
        if name in of_work:
            assert tag[:4] + tag[-1] == "tg:{}", key
            assert len(tag) == len("tg:{}") + 64, key
    mine = f"tg:{{{work_key(cache, job_id)}}}"
    assert {name for tag, _colon, name in found.values() if tag == mine} == {"result", "refresh"}
