"""A partner of the deployed stack: what it asks for, and its HTTP client."""

from __future__ import annotations

import itertools
import secrets
from typing import Any, Self

import httpx

from cli.local import stack
from tests.patience import until

AT_ONCE = 50
"""Connections that one client keeps open."""


class Words:
    """Text that nobody else uses: no test meets another's, and a log can be searched for all."""

    def __init__(self) -> None:
        self.mark = f"zq{secrets.token_hex(8)}"
        """Every word begins with it."""
        self._count = itertools.count(1)

    def __call__(self, kind: str) -> str:
        """Return a new word, fit for a prompt and for an Idempotency-Key; none begins another."""
        return f"{self.mark}-{next(self._count)}-{kind}"


def ask(model: str, prompt: str, **params: Any) -> dict[str, Any]:
    """Return the body that asks `model` for an answer to `prompt`."""
    inputs: dict[str, dict[str, Any]] = {
        "chat-mini": {"messages": [{"role": "user", "content": prompt}]},
        "chat-claude": {"messages": [{"role": "user", "content": prompt}]},
        "code-command": {"instruction": prompt, "code": "x = 1\n", "language": "python"},
        "image-studio": {"prompt": prompt},
        "risk-report": {"text": prompt},
    }
    return {"model": model, "input": inputs[model], "params": params}


class Partner:
    """One partner's client; as a context, closed at the end."""

    def __init__(self, base: str, partner: stack.Partner) -> None:
        self.key = partner.api_key
        self.http = httpx.Client(
            base_url=base,
            headers={"Authorization": f"Bearer {partner.api_key}"},
            timeout=60,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=AT_ONCE),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.http.close()

    def post(
        self, body: dict[str, Any], key: str, *, wait: int | None = 25, cache: str | None = None
    ) -> httpx.Response:
        """Return the answer to `POST /v1/jobs`; it may take `wait` seconds to come.

        `cache` is what `Cache-Control` says.
        """
        headers = {"Idempotency-Key": key}
        if cache is not None:
            headers["Cache-Control"] = cache
        if wait is not None:
            headers["Prefer"] = f"wait={wait}"
        return self.http.post("/v1/jobs", json=body, headers=headers)

    def ended(self, reply: httpx.Response, *, patience: float = 40) -> dict[str, Any]:
        """Return the job that a post made or found, once it is done.

        Raises:
            AssertionError: it was not accepted, or is not done after `patience` seconds.
        """
        assert reply.status_code in {200, 202}, reply.text
        return self.ended_at(reply.headers["Location"], patience=patience)

    def ended_at(self, location: str, *, patience: float = 40) -> dict[str, Any]:
        """Return the job at `location`, once it is done."""

        def done() -> dict[str, Any] | None:
            answer = self.http.get(location, headers={"Prefer": "wait=20"})
            assert answer.status_code == 200, answer.text
            job: dict[str, Any] = answer.json()
            return job if job["done"] else None

        return until(done, patience=patience, awaited=f"end of {location}")

    def run(self, body: dict[str, Any], key: str) -> dict[str, Any]:
        """Return the job that `body` makes, once it is done."""
        return self.ended(self.post(body, key))

    def images(self, body: dict[str, Any], key: str | None) -> httpx.Response:
        """Return the answer to `POST /v1/images/generations`."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.http.post("/v1/images/generations", json=body, headers=headers)

    def usage(self) -> dict[str, int]:
        """Return what the partner has by `GET /v1/usage`: available, reserved, captured."""
        shown = self.http.get("/v1/usage")
        assert shown.status_code == 200, shown.text
        names = ("available", "reserved", "captured")
        return {name: shown.json()[f"{name}_micro_credits"] for name in names}

    def cancel(self, job_id: str) -> httpx.Response:
        """Return the answer to `POST /v1/jobs/{id}/cancel`."""
        return self.http.post(f"/v1/jobs/{job_id}/cancel")

    def result(self, job: dict[str, Any]) -> httpx.Response:
        """Return the answer to `GET /v1/jobs/{id}/result`."""
        return self.http.get(f"/v1/jobs/{job['id']}/result")
