"""Who may ask what: partner keys at the deployed front door."""

from __future__ import annotations

import httpx
import pytest

from cli.local.stack import StackInfo
from tests.system.partner import Partner, Words, ask

pytestmark = pytest.mark.system


def wrong_credentials(good: str, mark: str) -> dict[str, str | None]:
    """Return headers that prove nothing, made of a key that does."""
    prefix, key_id, secret = good.split("_", 2)
    other = (mark + "x" * 43)[:43]
    return {
        "no header": None,
        "another scheme": f"Basic {good}",
        "no scheme": good,
        "no key": "Bearer",
        "malformed": f"Bearer {mark}",
        "a part of a key": f"Bearer {good[:-1]}",
        "more than a key": f"Bearer {good}x",
        "two keys": f"Bearer {good} {good}",
        "wrong secret": f"Bearer {prefix}_{key_id}_{other}",
        "another letter case": f"Bearer {prefix}_{key_id}_{secret.swapcase()}",
        "unknown": f"Bearer {prefix}_000000000000_{secret}",
    }


@pytest.mark.parametrize("which", wrong_credentials("tg_a_b", ""))
def test_what_proves_nothing_is_401(
    which: str, acme: Partner, stack: StackInfo, words: Words
) -> None:
    credentials = wrong_credentials(acme.key, words.mark)[which]
    headers = {"Idempotency-Key": words("key")}
    if credentials is not None:
        headers["Authorization"] = credentials
    with httpx.Client(base_url=stack.api_url, trust_env=False, timeout=40) as client:
        posted = client.post(
            "/v1/jobs", json=ask("chat-mini", words("prompt")), headers=dict(headers)
        )
        listed = client.get("/v1/models", headers=headers)
    for answer in (posted, listed):
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.headers["X-Request-Id"]


def test_one_key_opens_every_route_in_any_order(acme: Partner, words: Words) -> None:
    """A policy is kept by key: made for one route only, it would shut the next."""
    key = words("key")
    for _ in range(2):
        assert acme.http.get("/v1/models").status_code == 200
        job = acme.run(ask("chat-mini", key), key)
        assert acme.http.get(f"/v1/jobs/{job['id']}").status_code == 200
        assert acme.result(job).status_code == 200
        assert acme.http.get("/v1/nothing").status_code == 404
        assert acme.http.delete(f"/v1/jobs/{job['id']}").status_code == 404


def test_another_partners_job_is_not_there(acme: Partner, globex: Partner, words: Words) -> None:
    job = acme.run(ask("chat-mini", words("prompt")), words("key"))
    for path in (f"/v1/jobs/{job['id']}", f"/v1/jobs/{job['id']}/result"):
        theirs = globex.http.get(path)
        nobodys = globex.http.get(path.replace(job["id"], "job_" + "0" * 26))
        assert (theirs.status_code, theirs.json()["code"]) == (404, "not_found")
        same = {name: theirs.json()[name] for name in theirs.json() if name != "request_id"}
        assert same == {n: nobodys.json()[n] for n in nobodys.json() if n != "request_id"}
        assert acme.http.get(path).status_code == 200


def test_health_is_public_and_says_no_more(stack: StackInfo) -> None:
    with httpx.Client(base_url=stack.api_url, trust_env=False) as anybody:
        health = anybody.get("/healthz")
        assert (health.status_code, health.json()) == (200, {"status": "ok"})
        assert anybody.get("/nothing").json()["code"] == "not_found"
