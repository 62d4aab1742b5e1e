"""The cache as partners and operators meet it: stale answers, wishes, invalidation, other code."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx
import pytest

from cli.local.stack import StackInfo
from tests.patience import until
from tests.system.aws import Aws
from tests.system.conftest import FRESH, SOON_STALE, Command
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor, entry

pytestmark = pytest.mark.system

MODEL, CODE = "chat-mini", "code-command"


def left(reply: httpx.Response) -> int:
    """Return the seconds for which a cached answer is fresh, as its header says."""
    found = re.fullmatch(r"tidegate; hit; ttl=(-?\d+)", reply.headers["Cache-Status"])
    assert found, reply.headers["Cache-Status"]
    return int(found[1])


def test_a_stale_answer_is_served_and_one_call_makes_it_anew(
    acme: Partner, aws: Aws, stack: StackInfo, tidegate: Command, vendor: Vendor, words: Words
) -> None:
    prompt, old, new = words("prompt"), report(7), report(1008)
    body = ask(SOON_STALE, prompt)
    vendor.say(SOON_STALE, json.dumps(old))
    assert acme.run(body, words("key"))["source"] == "vendor"
    fresh = acme.post(body, words("key"))
    assert fresh.json()["cache"]["stale"] is False
    assert left(fresh) < FRESH

    vendor.say(SOON_STALE, json.dumps(new))
    paid = captured(tidegate)
    time.sleep(max(left(fresh), 0) + 1)
    stale = acme.post(body, words("key"), wait=None)
    job = stale.json()
    assert (stale.status_code, job["source"], job["output"]) == (200, "cache", {"data": old})
    assert (job["cache"]["status"], job["cache"]["stale"]) == ("hit", True)
    assert job["cache"]["age_seconds"] >= FRESH
    assert left(stale) < 0

    def renewed() -> dict[str, Any] | None:
        found = acme.post(body, words("key"), wait=None).json()
        return None if found["cache"]["stale"] else dict(found)

    again = until(renewed, patience=30, awaited="fresh answer")
    assert (again["source"], again["output"]) == ("cache", {"data": new})
    assert len(vendor.calls(prompt)) == 2
    assert again["price"]["charged_micro_credits"] == entry(SOON_STALE).price.cached
    assert captured(tidegate) > paid, "a refresh is the operator's to pay"
    counted(aws, stack.functions["api"], "Refreshes", {"model": SOON_STALE, "begun": "True"})


def report(account: int) -> dict[str, Any]:
    """Return an answer that fulfils the model's contract."""
    found = {"confidence_score": 0.5, "anomaly_detected": False, "risk_level": "LOW"}
    return {"account_id": account, **found}


def captured(tidegate: Command) -> float:
    """Return what refreshes have cost the operator so far, in credits."""
    told = tidegate("partners", "balance", "_operator")
    return float(told.split("captured")[1].replace(",", ""))


def counted(aws: Aws, function: str, metric: str, dimensions: dict[str, str]) -> None:
    """Check that a function has written a metric with these dimensions, of which CloudWatch's
    dashboard must ask for each."""

    def written() -> bool:
        lines = (json.loads(line) for line in aws.log_lines(function) if f'"{metric}"' in line)
        named = {"environment": "local", "service": function.split("-")[2], **dimensions}
        return any(
            {name: line[name] for [names] in _names(line) for name in names} == named
            for line in lines
        )

    until(written, patience=10, awaited=f"{metric} with {dimensions}")


def _names(line: dict[str, Any]) -> list[list[list[str]]]:
    return [each["Dimensions"] for each in line["_aws"]["CloudWatchMetrics"]]


def test_what_an_operator_declares_void_is_not_served_again(
    acme: Partner,
    globex: Partner,
    aws: Aws,
    stack: StackInfo,
    tidegate: Command,
    vendor: Vendor,
    words: Words,
) -> None:
    body, key, wrong = ask(MODEL, words("prompt")), words("key"), words("answer")
    vendor.say(MODEL, wrong)
    first = acme.run(body, key)
    theirs = globex.run(body, words("key"))
    assert acme.post(body, words("key")).json()["output"] == {"text": wrong}

    told = tidegate(
        "cache", "invalidate", "--model", MODEL, "--partner", "acme", "--why", "wrong answers"
    )
    assert "answers of model chat-mini of acme made before" in told
    vendor.say(MODEL, words("answer"))
    anew = acme.run(body, words("key"))
    assert (anew["source"], anew["output"] == first["output"]) == ("vendor", False)
    assert acme.post(body, words("key")).json()["output"] == anew["output"]
    other = globex.post(body, words("key")).json()
    assert (other["source"], other["output"]) == ("cache", theirs["output"])
    # A key still leads to its own job, whose answer was given: that is no answer for another.
    assert acme.post(body, key).json()["output"] == first["output"]
    assert len(vendor.calls(body["input"]["messages"][0]["content"])) == 3
    counted(aws, stack.functions[f"worker-{MODEL}"], "Invalidations", {"model": MODEL})


def test_a_partner_may_want_a_newer_answer_or_a_cached_one_or_none_kept(
    acme: Partner, aws: Aws, vendor: Vendor, words: Words
) -> None:
    prompt, key = words("prompt"), words("key")
    body, jobs = ask(MODEL, prompt), aws.job_ids()
    refused = acme.post(body, key, cache="only-if-cached")
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (504, "cache_miss_only_if_cached")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert (refused.headers["x-should-retry"], problem["retryable"]) == ("false", False)
    assert "r=" in refused.headers["RateLimit"]
    assert aws.job_ids() == jobs

    first = acme.post(body, key)  # the key was not used up
    assert first.headers["Cache-Status"] == "tidegate; fwd=miss; stored"
    cached = acme.post(body, words("key"), cache="only-if-cached")
    assert (cached.status_code, cached.json()["source"]) == (200, "cache")
    assert left(cached) > 0
    assert acme.post(body, words("key"), cache="max-age=3600").json()["source"] == "cache"
    assert len(vendor.calls(prompt)) == 1

    for calls, wish in enumerate(("no-cache", "max-age=0", "min-fresh=100000"), 2):
        vendor.say(MODEL, words("answer"))
        newer = acme.post(body, words("key"), cache=wish)
        assert newer.headers["Cache-Status"] == "tidegate; fwd=request; stored", wish
        assert newer.json()["cache"]["status"] == "bypass", wish
        assert len(vendor.calls(prompt)) == calls, wish
        found = acme.post(body, words("key")).json()
        assert (found["source"], found["output"]) == ("cache", newer.json()["output"]), wish

    vendor.say(MODEL, words("answer"))
    secret = acme.post(body, words("key"), cache="no-store")
    assert secret.headers["Cache-Status"] == "tidegate; fwd=request"
    assert len(vendor.calls(prompt)) == 5
    after = acme.post(body, words("key"))
    assert after.json()["output"] == found["output"] != secret.json()["output"]
    assert acme.result(secret.json()).json() == secret.json()["output"]


def code(prompt: str, text: str) -> dict[str, Any]:
    return {"model": CODE, "input": {"instruction": prompt, "code": text, "language": "python"}}


def test_code_in_another_hand_is_the_same_work_and_keeps_its_own_names(
    acme: Partner, vendor: Vendor, words: Words
) -> None:
    prompt = words("prompt")
    asked = "def add(a, b):\n    total = a + b\n    return total\n"
    vendor.say(CODE, "def add(a, b):\n    total = a + b\n    print(total)\n    return total\n")
    first = acme.run(code(prompt, asked), words("key"))
    hand = acme.post(
        code(prompt, "def add(a,b):\n  # both of them\n  total = a+b\n\n  return total"),
        words("key"),
        wait=None,
    ).json()
    assert (hand["source"], hand["output"]) == ("cache", first["output"])
    names = acme.post(
        code(prompt, "def add(x, y):\n    both = x + y\n    return both\n"), words("key"), wait=None
    ).json()
    assert names["source"] == "cache"
    assert names["output"] == {
        "text": "def add(x, y):\n    both = x + y\n    print(both)\n    return both\n"
    }
    assert len(vendor.calls(prompt)) == 1
    other = acme.run(code(prompt, asked.replace("a + b", "a - b")), words("key"))
    assert other["source"] == "vendor"
    assert len(vendor.calls(prompt)) == 2
