"""A partner's view: HTTP requests to the front door, and what came of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal
from uuid import uuid4

import httpx

from cli.demo.asks import Ask
from cli.demo.facts import Unfinished

How = Literal["created", "joined", "replayed", "cached", "refused", "broken"]
"""What a request for a job led to: a new job, a running one, the same one again, an answer that was
there, a 4xx, and what must not be: a 5xx."""

TIMEOUT = 40.0
"""Seconds; API Gateway itself gives up after 29."""

WAIT = 10
"""Seconds of `Prefer: wait`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to one request for a job."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def how(self) -> How:
        """Return what the request led to, as the headers tell any client."""
        if self.status >= 500:
            return "broken"
        if self.status >= 400:
            return "refused"
        if self.headers.get("idempotent-replayed") == "true":
            return "replayed"
        cache = self.headers.get("cache-status", "")
        if "collapsed" in cache:
            return "joined"
        return "cached" if "hit" in cache else "created"

    @property
    def said(self) -> str:
        """Return status and error code in a few words."""
        return f"{self.status} {self.body.get('code', '')}".strip()

    @property
    def job_id(self) -> str:
        """Return the job's id.

        Raises:
            Unfinished: there is no job, the request was refused.
        """
        if self.how in {"refused", "broken"}:
            raise Unfinished(f"POST /v1/jobs was answered {self.said}: {self.body.get('detail')}")
        return str(self.body["id"])


@dataclass
class Tally:
    """Counts what all requests for jobs led to, from any thread."""

    counts: Counter[How] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def add(self, how: How) -> None:
        """Count one request."""
        with self._lock:
            self.counts[how] += 1


class PartnerClient:
    """One partner's HTTP client, usable from many threads."""

    def __init__(self, api_url: str, api_key: str, tally: Tally) -> None:
        self._tally = tally
        self._client = httpx.Client(
            base_url=api_url,
            headers={"Authorization": f"Bearer {api_key}"},
            timeout=TIMEOUT,
            # The emulator drops connections that are idle for 5 s.
            limits=httpx.Limits(max_connections=None, keepalive_expiry=2),
            trust_env=False,  # no proxy between us and a loopback address
        )

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def post(self, ask: Ask, key: str | None = None) -> Reply:
        """Ask for a job under an Idempotency-Key, a new one unless given."""
        return self.send(ask.body, {"Idempotency-Key": key or new_key()})

    def send(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Post a body as it is, with these headers."""
        response = self._client.post("/v1/jobs", json=body, headers=dict(headers))
        readable = "json" in response.headers.get("content-type", "")
        content = response.json() if readable else {}
        reply = Reply(response.status_code, response.headers, content)
        self._tally.add(reply.how)
        return reply

    def job(self, job_id: str, wait: int | None = None) -> dict[str, Any]:
        """Return a job as it is now, or after at most `wait` seconds."""
        headers = {} if wait is None else {"Prefer": f"wait={wait}"}
        response = self._client.get(f"/v1/jobs/{job_id}", headers=headers)
        response.raise_for_status()
        found: dict[str, Any] = response.json()
        return found

    def finished(self, job_id: str, patience: float = 60) -> dict[str, Any]:
        """Return a job once it is final.

        Raises:
            Unfinished: it was not within `patience` seconds.
        """
        until = time.monotonic() + patience
        while time.monotonic() < until:
            job = self.job(job_id, WAIT)
            if job["done"]:
                return job
        raise Unfinished(f"{job_id} was still {job['status']} after {patience:g} s")

    def get(self, path: str) -> httpx.Response:
        """Return the answer at a path, whatever its status."""
        return self._client.get(path)


def new_key() -> str:
    """Return an Idempotency-Key that nobody used."""
    return uuid4().hex
