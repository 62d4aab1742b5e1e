"""`POST /v1/images/generations`: a job that looks synchronous, for clients that know no jobs."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from api import incoming, problem, represent
from api.allowance import told
from api.posted import posted
from api.replies import (
    Api,
    Reply,
    acceptance,
    cache_status,
    job_reply,
    json_reply,
    location,
    preference,
    seen,
    waited,
)
from tidegate.errors import GenerationEnded, GenerationFailed, RequestInProgress, TidegateError
from tidegate.flows.wait import LONGEST
from tidegate.rules import image_request
from tidegate.rules.job import Job, Status
from tidegate.rules.money import micro_to_credits


def images(app: APIGatewayRestResolver, api: Api) -> None:
    """Add the route: 200 with the images, 202 with the job when they take longer than it holds."""

    @app.post("/v1/images/generations", middlewares=[told])
    def generate() -> Reply:
        event = app.current_event
        request_id = event.request_context.request_id or ""
        accepted, echoed = posted(app, api, image_request.parse, "images")
        if accepted.how == "replayed" and not accepted.job.done:
            where = {"Location": location(api, accepted.job)}
            return problem.response(_running(accepted.job), request_id, where)
        granted = incoming.wait(event)
        job = waited(api, accepted.job, LONGEST if granted is None else granted)
        headers = {
            **acceptance(api, accepted, job),
            **preference(granted),
            **echoed,
        }
        metadata, output = seen(api, accepted, job)
        if not job.done:
            return job_reply(api, job, 202, headers, metadata, None)
        if job.status is not Status.COMPLETED or output is None:
            return problem.response(_ended(job), request_id, headers)
        shown = represent.output(output, api.assets.url)
        return json_reply(200, _made(job, shown), {**cache_status(job), **headers})


def _made(job: Job, output: dict[str, Any]) -> dict[str, Any]:
    """Return the images as image clients expect them, and what they cost."""
    urls = [image["url"] for image in output["images"]]
    return {
        "created": int(job.finished_at or job.created_at),
        "data": [{"url": url} for url in urls],
        "asset_url": urls[0] if urls else None,
        "credits_deducted": micro_to_credits(job.charged),
        "micro_credits_deducted": job.charged,
        "job_id": job.id,
    }


def _running(job: Job) -> TidegateError:
    return RequestInProgress(
        f"the same request is running as {job.id}; ask for that job, or send this again later"
    )


def _ended(job: Job) -> TidegateError:
    why = f": {job.error.message}" if job.error else ""
    message = f"{job.id} ended {job.status} without an image{why}"
    return GenerationEnded(message) if job.curable else GenerationFailed(message)
