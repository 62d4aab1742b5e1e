"""The routes of `/v1`: each reads the request, calls one flow, and says what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from botocore.exceptions import BotoCoreError, ClientError

from api import incoming, problem, represent
from tidegate.doors.assets import Assets
from tidegate.errors import DoorError, JobFailed, JobNotComplete, NotFound, TidegateError
from tidegate.flows import wait
from tidegate.flows.accept import Accepted, Doors, accept
from tidegate.rules import keys, request
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.job import Job, Status

Reply = Response[str]


@dataclass(frozen=True, slots=True)
class Api:
    """What the routes need."""

    doors: Doors
    assets: Assets
    catalogue: Catalogue
    public_url: str


def resolver(api: Api) -> APIGatewayRestResolver:
    """Return the resolver with every route and error handler."""
    app = APIGatewayRestResolver()

    @app.post("/v1/jobs")
    def submit() -> Reply:
        event = app.current_event
        partner = incoming.partner(event)
        key = keys.idempotency_key(incoming.headers(event, "idempotency-key"))
        asked = request.parse(incoming.body(event), api.catalogue)
        accepted = accept(
            asked,
            api.catalogue,
            api.doors,
            partner=partner,
            route="jobs",
            key=key,
            correlation_id=_request_id(app),
        )
        granted = incoming.wait(event)
        job = _waited(api, accepted.job, granted)
        headers = {**_accepted(api, accepted, job), **_preference(granted), "Idempotency-Key": key}
        metadata, output = _seen(api, accepted, job)
        return _job(api, job, 200 if job.done else 202, headers, metadata, output)

    @app.get("/v1/jobs/<job_id>")
    def show(job_id: str) -> Reply:
        granted = incoming.wait(app.current_event)
        job = _waited(api, _owned(app, api, job_id), granted)
        if f'"{job.version}"' in incoming.etags(app.current_event):
            return Response(status_code=304, body="", headers=_progress(job))
        return _job(api, job, 200, _preference(granted), *api.doors.jobs.shown(job))

    @app.get("/v1/jobs/<job_id>/result")
    def result(job_id: str) -> Reply:
        job = _owned(app, api, job_id)
        if not job.done:
            raise JobNotComplete(f"the job is {job.status}; ask again, or GET it with Prefer: wait")
        _metadata, output = api.doors.jobs.shown(job)
        if output is None:
            reason = job.error.message if job.error else job.status.value
            raise JobFailed(f"the job ended {job.status} and has no result: {reason}")
        return _json(200, represent.output(output, api.assets.url), _cache_status(job))

    @app.get("/v1/models")
    def models() -> Reply:
        incoming.partner(app.current_event)
        return _json(200, represent.models(api.catalogue), {})

    @app.get("/healthz")
    def health() -> Reply:
        return _json(200, {"status": "ok"}, {})

    _errors(app, api)
    return app


def _errors(app: APIGatewayRestResolver, api: Api) -> None:
    @app.not_found
    def unknown(_error: Exception) -> Reply:
        return problem.response(NotFound("there is nothing at this path"), _request_id(app))

    def passing(error: Exception) -> Reply:
        api.doors.telemetry.bind(error_class=type(error).__name__)
        api.doors.telemetry.warn("door_failed")
        return problem.response(problem.PASSING, _request_id(app))

    def refused(error: TidegateError) -> Reply:
        api.doors.telemetry.bind(error_class=error.code)
        return problem.response(error, _request_id(app))

    app.exception_handler([DoorError, ClientError, BotoCoreError])(passing)
    app.exception_handler(TidegateError)(refused)


def _request_id(app: APIGatewayRestResolver) -> str:
    return app.current_event.request_context.request_id or ""


def _owned(app: APIGatewayRestResolver, api: Api, job_id: str) -> Job:
    partner = incoming.partner(app.current_event)
    job = api.doors.jobs.load(job_id)
    if job is None or job.partner != partner:  # another's job is not even there
        raise NotFound("there is no such job")
    api.doors.telemetry.bind(job_id=job.id, model=job.model, attempt=job.attempt)
    return job


def _waited(api: Api, job: Job, granted: int | None) -> Job:
    if granted is None or job.done:
        return job
    return wait.until_done(job, granted, api.doors.jobs, api.doors.clock)


def _seen(api: Api, accepted: Accepted, job: Job) -> tuple[dict[str, str], dict[str, Any] | None]:
    """Return a job's notes and output, read only if they are not at hand already."""
    if accepted.metadata is not None and (accepted.output is not None or not job.done):
        return accepted.metadata, accepted.output
    return api.doors.jobs.shown(job)


def _job(
    api: Api,
    job: Job,
    status: int,
    headers: dict[str, str],
    metadata: dict[str, str],
    output: dict[str, Any] | None,
) -> Reply:
    shown = None if output is None else represent.output(output, api.assets.url)
    body = represent.job(job, api.doors.clock.now(), api.public_url, shown, metadata)
    return _json(status, body, {**_cache_status(job), **_progress(job), **headers})


def _json(status: int, body: dict[str, Any], headers: dict[str, str]) -> Reply:
    return Response(
        status_code=status,
        content_type="application/json",
        body=json.dumps(body, ensure_ascii=False),
        headers={**headers},
    )


def _accepted(api: Api, accepted: Accepted, job: Job) -> dict[str, str]:
    headers = {"Location": f"{api.public_url}/v1/jobs/{job.id}"}
    if accepted.how == "replayed":
        headers["Idempotent-Replayed"] = "true"
        if job.done:
            headers["X-Cache-Lookup"] = "HIT-IDEMPOTENT"
    if accepted.how == "joined":
        headers["Cache-Status"] = "tidegate; fwd=miss; collapsed"
    return headers


def _progress(job: Job) -> dict[str, str]:
    etag = {"ETag": f'"{job.version}"'}
    return etag if job.done else {**etag, "Retry-After": "1"}


def _preference(granted: int | None) -> dict[str, str]:
    return {} if granted is None else {"Preference-Applied": f"wait={granted}"}


def _cache_status(job: Job) -> dict[str, str]:
    """Return `Cache-Status` (RFC 9211)."""
    if job.cache_status == "hit":
        return {"Cache-Status": "tidegate; hit"}
    stored = "; stored" if job.status is Status.COMPLETED else ""
    return {"Cache-Status": f"tidegate; fwd=miss{stored}"}
