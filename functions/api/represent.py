"""A job as partners see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.clock import rfc3339
from tidegate.doors.ledger import Balance
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import CacheStatus, Job, Status
from tidegate.rules.request import STRUCTURED

CACHE_STATUS: dict[CacheStatus, str] = {
    "hit": "hit",
    "stale": "hit",
    "miss": "miss",
    "request": "bypass",
    "stale_refused": "bypass",
    "bypass": "bypass",
    "negative": "negative",
}
"""How partners are told what the cache did: four words, and `stale` beside them."""


def job(
    job: Job, now: float, base: str, output: dict[str, Any] | None, metadata: dict[str, str]
) -> dict[str, Any]:
    """Return a job's JSON. `base` is the public URL without `/v1`; times are RFC 3339 in UTC."""
    here = address(base, job)
    completed = job.status is Status.COMPLETED
    return {
        "id": job.id,
        "object": "job",
        "status": job.status.value,
        "done": job.done,
        "version": job.version,
        "model": job.model,
        "task": job.task,
        "priority": job.priority,
        "created_at": rfc3339(job.created_at),
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "deadline_at": rfc3339(job.deadline_at),
        "attempts": job.attempt,
        "source": _source(job) if completed else None,
        "cache": {
            "status": CACHE_STATUS[job.cache_status],
            "age_seconds": age(job, now) if completed else None,
            "stale": job.cache_status == "stale",
        },
        "output": output,
        "usage": _usage(job) if completed and not job.from_cache else None,
        "usage_estimated": job.usage.estimated,
        "price": {"reserved_micro_credits": job.reserved, "charged_micro_credits": job.charged},
        "upstream_ms": job.upstream_ms,
        "error": _error(job),
        "metadata": metadata,
        "correlation_id": job.correlation_id,
        "replay_count": job.replay_count,
        "released": job.release_of is not None,
        "urls": {
            "self": here,
            "result": f"{here}/result",
            "cancel": f"{here}/cancel",
        },
    }


def address(base: str, job: Job) -> str:
    """Return where a job is; `base` as in `job`."""
    return f"{base}/v1/jobs/{job.id}"


def output(value: dict[str, Any], url: Callable[[str], str]) -> dict[str, Any]:
    """Return an output with a URL in place of each image's key in our bucket."""
    if "images" not in value:
        return value
    images = [
        {"url": url(image["key"]), **{n: v for n, v in image.items() if n != "key"}}
        for image in value["images"]
    ]
    return {**value, "images": images}


def usage(balance: Balance) -> dict[str, Any]:
    """Return what a partner has, in micro-credits (a million is one credit)."""
    return {
        "object": "usage",
        "available_micro_credits": balance.available,
        "reserved_micro_credits": balance.reserved,
        "captured_micro_credits": balance.captured,
    }


def models(catalogue: Catalogue) -> dict[str, Any]:
    """Return what can be called: the catalogue without what is between us and the vendor."""
    data = [
        {
            "id": name,
            "object": "model",
            "task": entry.task,
            "version": entry.version,
            "parameters": {
                parameter: rule.model_dump(mode="json", exclude_none=True)
                for parameter, rule in entry.parameters.items()
            },
            "locales": list(entry.locales),
            "safety_profiles": sorted(entry.safety_profiles),
            "default_safety_profile": entry.default_safety_profile,
            "response_schema": entry.task in STRUCTURED,
            "cache": {
                "reuse": entry.cache.reuse,
                "fresh_seconds": entry.cache.soft_ttl or entry.cache.hard_ttl,
                "served_seconds": entry.cache.hard_ttl,
                "normalise": entry.normalise,
                "ignore_comments": entry.ignore_comments,
            },
            "price_micro_credits": entry.price.model_dump(),
            "max_input_bytes": entry.max_input_bytes,
            "max_deadline_seconds": entry.deadline,
        }
        for name, entry in catalogue.models.items()
    ]
    return {"object": "list", "data": data}


def age(job: Job, now: float) -> int:
    """Return the whole seconds since the answer was made."""
    return max(0, int(now - (job.answered_at or now)))


def _source(job: Job) -> str:
    return "cache" if job.from_cache else "vendor"


def _usage(job: Job) -> dict[str, int]:
    return {"input_tokens": job.usage.input_tokens, "output_tokens": job.usage.output_tokens}


def _error(job: Job) -> dict[str, Any] | None:
    if job.error is None:
        return None
    return {
        "class": job.error.kind,
        "code": job.error.code,
        "message": job.error.message,
        "stage": job.error.stage,
        "vendor_status": job.error.vendor_status,
        "retryable": job.curable if job.done else True,
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(seconds)
