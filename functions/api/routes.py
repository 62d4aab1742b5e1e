"""The routes of `/v1`: each reads the request, calls one flow, and says what came of it."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from api import incoming, problem, represent
from api.allowance import known, told
from api.images import images
from api.posted import posted
from api.replies import (
    Api,
    Reply,
    acceptance,
    cache_status,
    job_reply,
    json_reply,
    preference,
    progress,
    seen,
    waited,
)
from tidegate.errors import (
    Defect,
    DoorError,
    JobFailed,
    JobNotComplete,
    NotFound,
    TidegateError,
)
from tidegate.flows.cancel import cancel
from tidegate.rules import request
from tidegate.rules.ids import is_job_id
from tidegate.rules.job import Job


def resolver(api: Api) -> APIGatewayRestResolver:
    """Return the resolver with every route and error handler."""
    app = APIGatewayRestResolver()

    @app.post("/v1/jobs", middlewares=[told])
    def submit() -> Reply:
        accepted, echoed = posted(app, api, request.parse, "jobs")
        granted = incoming.wait(app.current_event)
        job = waited(api, accepted.job, granted)
        headers = {**acceptance(api, accepted, job), **preference(granted), **echoed}
        metadata, output = seen(api, accepted, job)
        return job_reply(api, job, 200 if job.done else 202, headers, metadata, output)

    @app.get("/v1/jobs/<job_id>")
    def show(job_id: str) -> Reply:
        granted = incoming.wait(app.current_event)
        job = waited(api, _owned(app, api, job_id), granted)
        if f'"{job.version}"' in incoming.etags(app.current_event):
            return Response(status_code=304, body="", headers=progress(job))
        return job_reply(api, job, 200, preference(granted), *api.doors.jobs.shown(job))

    @app.get("/v1/jobs/<job_id>/result")
    def result(job_id: str) -> Reply:
        job = _owned(app, api, job_id)
        if not job.done:
            raise JobNotComplete(f"the job is {job.status}; ask again, or GET it with Prefer: wait")
        _metadata, output = api.doors.jobs.shown(job)
        if output is None:
            reason = job.error.message if job.error else job.status.value
            raise JobFailed(f"the job ended {job.status} and has no result: {reason}")
        return json_reply(200, represent.output(output, api.assets.url), cache_status(job))

    @app.post("/v1/jobs/<job_id>/cancel")
    def stop(job_id: str) -> Reply:
        doors = api.doors
        job = _owned(app, api, job_id)
        ended = cancel(job, doors.jobs, api.endings, doors.clock, doors.telemetry)
        return job_reply(api, ended, 200, {}, *doors.jobs.shown(ended))

    _about(app, api)
    images(app, api)
    _errors(app, api)
    return app


def _about(app: APIGatewayRestResolver, api: Api) -> None:
    @app.get("/v1/usage")
    def usage() -> Reply:
        balance = api.doors.ledger.balance(incoming.partner(app.current_event))
        return json_reply(200, represent.usage(balance), {})

    @app.get("/v1/models")
    def models() -> Reply:
        incoming.partner(app.current_event)
        return json_reply(200, represent.models(api.catalogue), {})

    @app.get("/healthz")
    def health() -> Reply:
        return json_reply(200, {"status": "ok"}, {})


def _errors(app: APIGatewayRestResolver, api: Api) -> None:
    @app.not_found
    def unknown(_error: Exception) -> Reply:
        return problem.response(NotFound("there is nothing at this path"), _request_id(app))

    def warned(error: Exception) -> None:
        api.doors.telemetry.bind(error_class=type(error).__name__)
        api.doors.telemetry.failed("door_failed", error)

    def passing(error: Exception) -> Reply:
        warned(error)
        return problem.response(problem.PASSING, _request_id(app), known(app))

    def defect(error: Exception) -> Reply:
        warned(error)
        return problem.response(problem.OURS, _request_id(app), known(app))

    def refused(error: TidegateError) -> Reply:
        api.doors.telemetry.bind(error_class=error.code)
        return problem.response(error, _request_id(app), known(app))

    app.exception_handler([DoorError, ClientError, BotoCoreError])(passing)
    app.exception_handler([Defect, ParamValidationError])(defect)
    app.exception_handler(TidegateError)(refused)


def _request_id(app: APIGatewayRestResolver) -> str:
    return app.current_event.request_context.request_id or ""


def _owned(app: APIGatewayRestResolver, api: Api, job_id: str) -> Job:
    partner = incoming.partner(app.current_event)
    job = api.doors.jobs.load(job_id) if is_job_id(job_id) else None
    if job is None or job.partner != partner:  # another's job is not even there
        raise NotFound("there is no such job")
    api.doors.telemetry.bind(job_id=job.id, model=job.model, attempt=job.attempt)
    return job
