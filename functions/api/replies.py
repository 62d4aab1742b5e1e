"""The answers of `/v1`: a job with its headers, and plain JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.event_handler import Response

from api import represent
from tidegate.doors.assets import Assets
from tidegate.doors.endings import Endings
from tidegate.flows import wait
from tidegate.flows.acceptance import Accepted, Doors
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import CacheStatus, Job, Status

Reply = Response[str]

CACHE = "tidegate"

FORWARDED: dict[CacheStatus, str] = {
    "miss": "fwd=miss",
    "request": "fwd=request",
    "stale_refused": "fwd=stale",
    "bypass": "fwd=bypass",
    "negative": "fwd=miss; detail=negative",
}
"""Why a job was not answered from the cache, in the words of RFC 9211."""


@dataclass(frozen=True, slots=True)
class Api:
    """What the routes need."""

    doors: Doors
    endings: Endings
    assets: Assets
    catalogue: Catalogue
    public_url: str


def waited(api: Api, job: Job, granted: int | None) -> Job:
    """Return the job as it is after the granted seconds, or as soon as it is done."""
    if granted is None or job.done:
        return job
    return wait.until_done(job, granted, api.doors.jobs, api.doors.clock)


def seen(api: Api, accepted: Accepted, job: Job) -> tuple[dict[str, str], dict[str, Any] | None]:
    """Return a job's notes and output, read only if they are not at hand already."""
    if accepted.metadata is not None and (accepted.answer is not None or not job.done):
        return accepted.metadata, None if accepted.answer is None else accepted.answer.output
    return api.doors.jobs.shown(job)


def job_reply(
    api: Api,
    job: Job,
    status: int,
    headers: dict[str, str],
    metadata: dict[str, str],
    output: dict[str, Any] | None,
) -> Reply:
    """Return a job as its JSON, with the headers every job has."""
    shown = None if output is None else represent.output(output, api.assets.url)
    body = represent.job(job, api.doors.clock.now(), api.public_url, shown, metadata)
    return json_reply(status, body, {**cache_status(job), **progress(job), **headers})


def json_reply(status: int, body: dict[str, Any], headers: dict[str, str]) -> Reply:
    """Return JSON."""
    return Response(
        status_code=status,
        content_type="application/json",
        body=json.dumps(body, ensure_ascii=False),
        headers={**headers},
    )


def acceptance(api: Api, accepted: Accepted, job: Job) -> dict[str, str]:
    """Return the headers that say where the job is and how it was found."""
    headers = {"Location": location(api, job)}
    if accepted.how == "replayed":
        headers["Idempotent-Replayed"] = "true"
        if job.done:
            headers["X-Cache-Lookup"] = "HIT-IDEMPOTENT"
    if accepted.how == "joined":
        headers["Cache-Status"] = f"{CACHE}; fwd=miss; collapsed"
    if accepted.answer is not None:  # its freshness left; below zero it is stale
        left = math.floor(accepted.answer.soft_until - api.doors.clock.now())
        headers["Cache-Status"] = f"{CACHE}; hit; ttl={left}"
    return headers


def location(api: Api, job: Job) -> str:
    """Return the job's address."""
    return represent.address(api.public_url, job)


def progress(job: Job) -> dict[str, str]:
    """Return the headers of a job on its way: its version, and when to ask again."""
    etag = {"ETag": f'"{job.version}"'}
    return etag if job.done else {**etag, "Retry-After": "1"}


def preference(granted: int | None) -> dict[str, str]:
    """Return what of `Prefer` was granted (RFC 7240)."""
    return {} if granted is None else {"Preference-Applied": f"wait={granted}"}


def cache_status(job: Job) -> dict[str, str]:
    """Return `Cache-Status` (RFC 9211): answered from the cache, or why it was not."""
    if job.from_cache:
        return {"Cache-Status": f"{CACHE}; hit"}
    stored = "; stored" if job.status is Status.COMPLETED and job.reusable else ""
    return {"Cache-Status": f"{CACHE}; {FORWARDED[job.cache_status]}{stored}"}
